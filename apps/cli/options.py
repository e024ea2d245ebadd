"""Options and arguments that several commands share."""

from typing import Annotated

import typer

from cognition.levels import Policy

POLICY_HELP = (
    "The model levels to use: AUTO allows up to MODEL_FLASH, AUTO_PRO up to MODEL_PRO; the others only one."
)

User = Annotated[str, typer.Option("--user", help="The user whose chats, memories and experts are used.")]
Chat = Annotated[str, typer.Option("--chat", help="The chat's id or name; omit it to start a new chat.")]
ChatFilter = Annotated[str, typer.Option("--chat", help="Only sub-agents of the chat with this id or name.")]
PolicyOption = Annotated[Policy, typer.Option("--policy", help=POLICY_HELP)]
ResumePolicy = Annotated[
    Policy | None, typer.Option("--policy", help=f"{POLICY_HELP} The default is the policy of its last run.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ChatId = Annotated[str, typer.Argument(help="The chat's id or name, as shown by `sessions list`.")]
SubSid = Annotated[str, typer.Argument(help="The sub-agent's id, as shown by `agents list`.")]
MemoryId = Annotated[str, typer.Argument(help="The memory's id, as shown by `memory list`.")]
SkillId = Annotated[str, typer.Argument(help="The expert's id, as shown by `skills list`.")]
Artifact = Annotated[
    str, typer.Option("--artifact", help='Only memories of this artifact, such as "Alignment Profile".')
]
Limit = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of memories.")]
From = Annotated[
    str, typer.Option("--from", help="Only memories changed since this date: 2026, 2026-05 or 2026-05-17.")
]
To = Annotated[
    str,
    typer.Option("--to", help="Only memories changed by the end of this day, month or year."),
]
