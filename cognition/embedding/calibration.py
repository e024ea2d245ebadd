"""Calibration of embedding models: measured on reference pairs, stored for models not bundled."""

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
    """The reference pairs: short texts about people, in five languages and across them (`pairs.json`).

    Attributes:
        paraphrases: Pairs of facts with the same meaning.
        contradictions: Pairs of facts of which one corrects the other.
        unrelated: Pairs of facts about different things.
        questions: Pairs of a question and the fact that answers it.
        unanswered: Questions that no fact in the file answers.
    """

    paraphrases: list[Pair]
    contradictions: list[Pair]
    unrelated: list[Pair]
    questions: list[Pair]
    unanswered: list[str]

    def asked(self) -> list[str]:
        """Return every question in the file."""
        return [question for question, _ in self.questions] + self.unanswered

    def facts(self) -> list[str]:
        """Return every fact in the file once; together they resemble a small memory."""
        stated = [fact for pair in self.paraphrases + self.contradictions + self.unrelated for fact in pair]
        return list(dict.fromkeys(stated + [answer for _, answer in self.questions]))


@dataclass(frozen=True)
class Measurement:
    """The raw cosines of a model on the reference pairs, one array per kind.

    Attributes:
        paraphrases: Facts with the same meaning, both as passages.
        contradictions: Facts of which one corrects the other, both as passages.
        unrelated: Facts about different things, both as passages.
        asked: The paraphrases again, one of the two as a query.
        answers: Questions as queries, and the facts that answer them.
        nearest: Questions without an answer as queries, and the nearest of all facts.
    """

    paraphrases: Vectors
    contradictions: Vectors
    unrelated: Vectors
    asked: Vectors
    answers: Vectors
    nearest: Vectors

    @property
    def calibration(self) -> Calibration:
        """The anchors of the model.

        A question is compared with all stored facts, and only the best match counts. The lower anchor for
        questions is therefore the cosine of the best match when no fact is an answer, rather than that of an
        arbitrary fact.

        Raises:
            InvalidInput: If the model does not separate paraphrases from unrelated texts.
        """
        return Calibration(
            facts=Anchors(_median(self.unrelated), _median(self.paraphrases)),
            question=Anchors(_median(self.nearest), _median(self.asked)),
        )


@dataclass(frozen=True)
class StoredCalibration:
    """An entry of `calibration.json`: a model and its anchors."""

    stamp: Stamp
    calibration: Calibration


_ENTRIES = TypeAdapter(list[StoredCalibration])


@cache
def pairs() -> Pairs:
    """Return the reference pairs."""
    text = files("cognition.embedding").joinpath("pairs.json").read_bytes()
    return TypeAdapter(Pairs).validate_json(text)


def measure(embedder: Embedder) -> Measurement:
    """Measure a model on the reference pairs; takes up to a minute on a CPU."""
    reference = pairs()
    facts = reference.facts()
    stored = dict(zip(facts, embedder.embed(facts, "passage"), strict=True))
    unanswered = embedder.embed(reference.unanswered, "query")

    def passage_cosines(pairs: Sequence[Pair]) -> Vectors:
        return np.array([stored[first] @ stored[second] for first, second in pairs])

    def query_cosines(pairs: Sequence[Pair]) -> Vectors:
        queries = embedder.embed([first for first, _ in pairs], "query")
        return np.array([query @ stored[second] for query, (_, second) in zip(queries, pairs, strict=True)])

    return Measurement(
        paraphrases=passage_cosines(reference.paraphrases),
        contradictions=passage_cosines(reference.contradictions),
        unrelated=passage_cosines(reference.unrelated),
        asked=query_cosines(reference.paraphrases),
        answers=query_cosines(reference.questions),
        nearest=(unanswered @ np.array(list(stored.values())).T).max(axis=1),
    )


def stored_calibration(name: str, stamp: Stamp, home: Path) -> Calibration:
    """Return the stored calibration of a model.

    Args:
        name: The name under which the model was requested, for the message.
        stamp: The model and its revision.
        home: The home folder.

    Raises:
        EmbeddingUnavailable: If this revision of the model has not been calibrated, or the file is damaged.
    """
    for entry in _read(home):
        if entry.stamp == stamp:
            return entry.calibration
    msg = (
        f"The embedding model {name!r} has not been calibrated, so its scores can't be interpreted yet: "
        f"run `cognition calibrate {name}` once."
    )
    raise EmbeddingUnavailable(msg)


def calibration_file(home: Path) -> Path:
    """Return the path of the file with the calibration of models that are not bundled."""
    return home / "calibration.json"


def store_calibration(stamp: Stamp, calibration: Calibration, home: Path) -> None:
    """Store a model's calibration in the home folder. The file is replaced atomically.

    Raises:
        EmbeddingUnavailable: If the existing file is damaged.
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
        msg = f"{str(path)!r} is damaged. Delete it and run `cognition calibrate` for your model again."
        raise EmbeddingUnavailable(msg) from error


def _median(cosines: Vectors) -> float:
    return round(float(np.median(cosines)), 4)
