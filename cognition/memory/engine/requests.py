"""What Qdrant in this process is asked: the port's filters, points and queries in its own words."""

from typing import Any

import qdrant_edge as edge

from cognition.memory.engine.port import TENANT, Filter, Point, Record, SparseVector, Vector


def near(where: Filter, dense: Vector, limit: int) -> edge.QueryRequest:
    """The points nearest by cosine; exact."""
    vector: Any = dense  # taken as it is; the stub asks for a list
    return edge.QueryRequest(
        query=edge.Query.Nearest(vector, using="dense"),
        filter=condition(where),
        limit=limit,
        params=edge.SearchParams(exact=True),
    )


def sharing(where: Filter, corpus: Filter, sparse: SparseVector, limit: int) -> edge.QueryRequest:
    """The points that share a term, by BM25 with the rarity that terms have in the corpus."""
    return edge.QueryRequest(
        query=edge.Query.Nearest(_terms(sparse), using="sparse"),
        filter=condition(where),
        limit=limit,
        params=edge.SearchParams(idf=edge.IdfParams(corpus=condition(corpus))),
    )


def condition(where: Filter) -> edge.Filter:
    """The filter; there is none without a user."""
    must: list[Any] = [edge.FieldCondition(TENANT, match=edge.MatchValue(value=where.user_id))]
    for name, value in where.equals.items():
        must.append(edge.FieldCondition(name, match=edge.MatchValue(value=value)))
    for name, (low, high) in where.between.items():
        must.append(edge.FieldCondition(name, range=edge.RangeFloat(gte=low, lte=high)))
    if where.ids is not None:
        must.append(edge.HasIdCondition(set(where.ids)))
    without: list[Any] = [
        edge.FieldCondition(name, match=edge.MatchAny(list(values)))
        for name, values in where.without.items()
        if values
    ]
    return edge.Filter(must=must, must_not=without)


def stored(point: Point) -> edge.Point:
    """A point as it is stored."""
    vectors: dict[str, Any] = {"sparse": _terms(point.sparse)}
    if point.dense is not None:
        vectors["dense"] = point.dense
    return edge.Point(id=point.id, vector=vectors, payload=dict(point.payload))


def record(found: edge.Record) -> Record:
    """A stored point as the port shows it."""
    return Record(str(found.id), dict(found.payload or {}))


def _terms(sparse: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(list(sparse.indices), list(sparse.values))
