"""Progress bars for ingestion: files, passages per second and time remaining."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from apps.cli.terminal.view import printable
from cognition.storage.resources import Resource
from cognition.text.plural import pluralize


class IngestionProgress:
    """Two progress bars: one for reading files, and one for the embedding that follows.

    Args:
        bars: The display that draws the bars.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._sizes: dict[str, int] = {}
        self._shares: dict[str, float] = {}
        self._chunks: dict[str, int] = {}
        self._done = 0
        self._started = monotonic()
        self._reading = self._bar("storing")
        self._embedding: TaskID | None = None

    def add(self, resource: Resource) -> None:
        """Add a file that was stored. A file with the same content is not counted twice."""
        if resource.id in self._sizes:
            return
        self._sizes[resource.id] = 1 if resource.settled else max(resource.size, 1)
        self._shares[resource.id] = float(resource.settled)
        self._done += resource.settled
        self._draw(resource.name)

    def update(self, event: dict[str, Any]) -> None:
        """Update the bars with an event of the graph."""
        id_ = event.get("resource_id", "")
        if id_ not in self._sizes:
            return
        match event:
            case {"status": _}:
                self._shares[id_] = 1.0
                self._done += 1
                self._draw(event["name"])
            case {"step": "embed", "share": share, "chunks": chunks}:
                self._embed(event["name"], share, chunks)
            case {"step": "vectorize", "share": share, "chunks": chunks}:
                self._shares[id_], self._chunks[id_] = share, chunks
                self._draw(event["name"])
            case {"step": _}:
                self._draw(event["name"])

    def _draw(self, name: str) -> None:
        files = pluralize(len(self._sizes), "file")
        read = sum(self._sizes[id_] * share for id_, share in self._shares.items())
        self._bars.update(
            self._reading,
            description=printable(name)[:40],
            completed=read / sum(self._sizes.values()),
            detail=f"{self._done} of {files}{self._speed(sum(self._chunks.values()))}",
        )

    def _embed(self, name: str, share: float, chunks: int) -> None:
        if self._embedding is None:
            self._started = monotonic()
            self._embedding = self._bar(f"embedding {printable(name)[:30]}")
        self._bars.update(self._embedding, completed=share, detail=self._speed(chunks).lstrip(", "))

    def _speed(self, chunks: int) -> str:
        seconds = monotonic() - self._started
        return f", {chunks / seconds:,.0f} passages/s" if chunks and seconds else ""

    def _bar(self, description: str) -> TaskID:
        return self._bars.add_task(description, total=1.0, detail="")


@contextmanager
def show_progress(*, visible: bool) -> Iterator[IngestionProgress]:
    """Show progress bars on standard error, and remove them when the block ends.

    Args:
        visible: False to draw nothing, such as when there is no terminal.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not visible) as bars:
        yield IngestionProgress(bars)
