"""Measuring the anchors of a model on shipped pairs, and keeping those of models that do not ship theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from cognition.embedding.embedder import Anchors, Calibration, Embedder, EmbeddingUnavailable, Stamp, Vectors
from cognition.storage.disk.atomic import write_atomically

Pair = tuple[str, str]


@dataclass(frozen=True)
class Pairs:
    """The shipped short texts about people, in five languages and across them (`pairs.json`).

    Attributes:
        paraphrases: Two facts that say the same.
        contradictions: Two facts of which one corrects the other.
        unrelated: Two facts about different things.
        questions: A question and the fact that answers it.
        unanswered: Questions that no fact of the file answers.
    """

    paraphrases: list[Pair]
    contradictions: list[Pair]
    unrelated: list[Pair]
    questions: list[Pair]
    unanswered: list[str]

    def asked(self) -> list[str]:
        """Every question of the file."""
        return [question for question, _ in self.questions] + self.unanswered

    def facts(self) -> list[str]:
        """Every fact of the file, once: what a small memory looks like."""
        stated = [fact for pair in self.paraphrases + self.contradictions + self.unrelated for fact in pair]
        return list(dict.fromkeys(stated + [answer for _, answer in self.questions]))


@dataclass(frozen=True)
class Measurement:
    """The raw cosines of a model over the shipped texts, one array per kind.

    Attributes:
        paraphrases: Facts that say the same, both as passages.
        contradictions: Facts of which one corrects the other, both as passages.
        unrelated: Facts about different things, both as passages.
        asked: Paraphrases again, one of the two as a query.
        answers: Questions as queries, and the facts that answer them.
        nearest: Questions that nothing answers, and the nearest of all the facts.
    """

    paraphrases: Vectors
    contradictions: Vectors
    unrelated: Vectors
    asked: Vectors
    answers: Vectors
    nearest: Vectors

    @property
    def calibration(self) -> Calibration:
        """The anchors of this model.

        A question is compared with everything that is stored and the best is kept: its lower anchor is
        how near that best comes when nothing stored is an answer, not how near any one fact comes.

        Raises:
            InvalidInput: The model does not tell what says the same from what is unrelated.
        """
        return Calibration(
            facts=Anchors(_median(self.unrelated), _median(self.paraphrases)),
            question=Anchors(_median(self.nearest), _median(self.asked)),
        )


@dataclass(frozen=True)
class StoredCalibration:
    """One entry of `calibration.json`: the anchors, and the model that they were measured on."""

    stamp: Stamp
    calibration: Calibration


_ENTRIES = TypeAdapter(list[StoredCalibration])


@cache
def pairs() -> Pairs:
    """The shipped texts."""
    text = files("cognition.embedding").joinpath("pairs.json").read_bytes()
    return TypeAdapter(Pairs).validate_json(text)


def measure(embedder: Embedder) -> Measurement:
    """The cosines of a model over the shipped texts; takes up to a minute on a CPU."""
    shipped = pairs()
    facts = shipped.facts()
    stored = dict(zip(facts, embedder.embed(facts, "passage"), strict=True))
    unanswered = embedder.embed(shipped.unanswered, "query")

    def beside(wanted: Sequence[Pair]) -> Vectors:
        return np.array([stored[first] @ stored[second] for first, second in wanted])

    def asking(wanted: Sequence[Pair]) -> Vectors:
        queries = embedder.embed([first for first, _ in wanted], "query")
        return np.array([query @ stored[second] for query, (_, second) in zip(queries, wanted, strict=True)])

    return Measurement(
        paraphrases=beside(shipped.paraphrases),
        contradictions=beside(shipped.contradictions),
        unrelated=beside(shipped.unrelated),
        asked=asking(shipped.paraphrases),
        answers=asking(shipped.questions),
        nearest=(unanswered @ np.array(list(stored.values())).T).max(axis=1),
    )


def stored_calibration(name: str, stamp: Stamp, home: Path) -> Calibration:
    """The anchors that were measured for a model, by the name it was asked for.

    Raises:
        EmbeddingUnavailable: This revision of the model was never measured, or the file is damaged.
    """
    for entry in _read(home):
        if entry.stamp == stamp:
            return entry.calibration
    msg = (
        f"The embedding model {name!r} was never measured, so its scores mean nothing yet: "
        f"run `cognition calibrate {name}` once."
    )
    raise EmbeddingUnavailable(msg)


def calibration_file(home: Path) -> Path:
    """Where a folder keeps the anchors of models that don't ship theirs."""
    return home / "calibration.json"


def store_calibration(stamp: Stamp, calibration: Calibration, home: Path) -> None:
    """Keep a model's anchors in the folder's file; readers see the old one or the new one, whole.

    Raises:
        EmbeddingUnavailable: The file that is there is damaged.
    """
    kept = [entry for entry in _read(home) if entry.stamp != stamp]
    text = _ENTRIES.dump_json([*kept, StoredCalibration(stamp, calibration)], indent=2)
    write_atomically(calibration_file(home), text + b"\n")


def _read(home: Path) -> list[StoredCalibration]:
    path = calibration_file(home)
    try:
        return _ENTRIES.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except ValidationError as error:
        msg = f"{str(path)!r} is damaged: delete it and run `cognition calibrate` for your model again."
        raise EmbeddingUnavailable(msg) from error


def _median(cosines: Vectors) -> float:
    return round(float(np.median(cosines)), 4)
