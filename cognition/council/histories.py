"""The channel that holds what each participant of a council was sent and said, for the length of one run."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue

Messages = dict[str, list[AnyMessage]]


class Histories(UntrackedValue[Messages]):
    """Histories by alias. The branches of a round each write their own; no checkpoint holds any of them."""

    def update(self, values: Sequence[Messages]) -> bool:
        """Take the histories that were written in a step, beside those of the others."""
        if not values:
            return False
        merged: Messages = dict(self.value) if self.is_available() else {}
        for value in values:
            merged |= value
        self.value = merged
        return True
