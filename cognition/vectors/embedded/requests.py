"""Conversion of filters, points and queries to Qdrant's types."""

from typing import Any

import qdrant_edge as edge

from cognition.vectors.port import TENANT, Bound, Filter, Point, Record, SparseVector, Vector


def near(where: Filter, dense: Vector, limit: int) -> edge.QueryRequest:
    """Return a request for the points nearest by cosine. Exact."""
    return edge.QueryRequest(
        query=edge.Query.Nearest(dense.tolist(), using="dense"),
        filter=condition(where),
        limit=limit,
        params=edge.SearchParams(exact=True),
    )


def sharing(where: Filter, corpus: Filter, sparse: SparseVector, limit: int) -> edge.QueryRequest:
    """Return a request for the points that share a term, by BM25 with the IDF over the corpus."""
    return edge.QueryRequest(
        query=edge.Query.Nearest(_terms(sparse), using="sparse"),
        filter=condition(where),
        limit=limit,
        params=edge.SearchParams(idf=edge.IdfParams(corpus=condition(corpus))),
    )


def condition(where: Filter) -> edge.Filter:
    """Convert a filter, which always includes the user."""
    must: list[Any] = [
        _is(TENANT, where.user_id),
        *(_is(name, value) for name, value in where.equals.items()),
    ]
    must += [_between(name, low, high) for name, (low, high) in where.between.items()]
    if where.ids is not None:
        must.append(edge.HasIdCondition(set(where.ids)))
    without: list[Any] = [_is(name, value) for name, values in where.without.items() for value in values]
    return edge.Filter(must=must, must_not=without)


def _is(field: str, value: str | int) -> edge.FieldCondition:
    """Match a string by value and an integer by range: the range-only integer index is half the size."""
    if isinstance(value, str):
        return edge.FieldCondition(field, match=edge.MatchValue(value=value))
    return _between(field, value, value)


def _between(field: str, low: Bound, high: Bound) -> edge.FieldCondition:
    return edge.FieldCondition(field, range=edge.RangeFloat(gte=low, lte=high))


def stored(point: Point) -> edge.Point:
    """Convert a point to store."""
    vectors: dict[str, Any] = {"sparse": _terms(point.sparse)}
    if point.dense is not None:
        vectors["dense"] = point.dense.tolist()  # passing an array takes twice as long
    return edge.Point(id=point.id, vector=vectors, payload=dict(point.payload))


def record(point: edge.Record) -> Record:
    """Convert a stored point."""
    return Record(str(point.id), dict(point.payload or {}))


def _terms(sparse: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(list(sparse.indices), list(sparse.values))
