"""What the commands may be given, in the words of their help."""

from typing import Annotated

import typer

from cognition.levels import Policy

THINKING = (
    "The levels that may think: AUTO climbs up to MODEL_FLASH, AUTO_PRO up to MODEL_PRO, the others stay."
)

User = Annotated[str, typer.Option("--user", help="Whose chats, memories and experts they are.")]
Chat = Annotated[str, typer.Option("--chat", help="The chat's id or name; a new chat if none.")]
OfChat = Annotated[str, typer.Option("--chat", help="Only those of the chat with this id or name.")]
PolicyOption = Annotated[Policy, typer.Option("--policy", help=THINKING)]
PolicyAsBefore = Annotated[
    Policy | None, typer.Option("--policy", help=f"{THINKING} As in its last run if none.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ChatId = Annotated[str, typer.Argument(help="The chat's id or name, as `sessions list` shows it.")]
SubSid = Annotated[str, typer.Argument(help="The sub-agent's id, as `agents list` shows it.")]
MemoryId = Annotated[str, typer.Argument(help="The memory's id, as `memory list` shows it.")]
SkillId = Annotated[str, typer.Argument(help="The expert's id, as `skills list` shows it.")]
Artifact = Annotated[str, typer.Option("--artifact", help='Only this artifact, such as "Alignment Profile".')]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most.")]
From = Annotated[str, typer.Option("--from", help="Changed on or after: 2026, 2026-05 or 2026-05-17.")]
To = Annotated[str, typer.Option("--to", help="Changed on or before, that day, month or year included.")]
