"""Functions of pandas objects that change what they are given, and look-alikes that change a copy."""

from __future__ import annotations

from typing import Any

from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()
USERS = "user STRING, n BIGINT"


def clips_in_place(n: Any) -> Any:
    n.clip(0, 10, inplace=True)
    return n


def clips_a_copy(n: Any) -> Any:
    n = n.copy()
    n.clip(0, 10, inplace=True)
    return n


def fills_in_place(frames: Any) -> Any:
    for frame in frames:
        frame["n"] = 0
        yield frame


def fills_a_copy(frames: Any) -> Any:
    for frame in frames:
        yield frame.assign(n=0)


def sorts_in_place(frame: Any) -> Any:
    frame.sort_values("n", inplace=True)
    return frame


def sorts_a_copy(frame: Any) -> Any:
    return frame.sort_values("n").reset_index(drop=True)


def zeroes_then_adds(n: Any) -> int:
    n[n < 0] = 0
    return int(n.sum())


def adds_the_positive(n: Any) -> int:
    return int(n[n > 0].sum())


ZOO.add(operators.pandas_udf(clips_in_place, input="n BIGINT"), "writes into its column", no="pure", yes="row_wise")
ZOO.add(operators.pandas_udf(clips_a_copy, input="n BIGINT"), "writes into a copy", yes="pure row_wise")
ZOO.add(operators.map_in_pandas(fills_in_place, input=USERS), "writes into its frames", no="pure keeps_columns")
ZOO.add(operators.map_in_pandas(fills_a_copy, input=USERS), "makes new frames", no="keeps_columns", yes="pure")
ZOO.add(
    operators.grouped_map(sorts_in_place, key="user", input=USERS),
    "moves the rows of its frame",
    no="pure",
    yes="commutative",
)
ZOO.add(
    operators.grouped_map(sorts_a_copy, key="user", input=USERS),
    "makes a sorted copy",
    yes="pure commutative keeps_columns",
)
ZOO.add(
    operators.grouped_agg(zeroes_then_adds, input="n BIGINT"), "writes into its column", no="pure", yes="commutative"
)
ZOO.add(operators.grouped_agg(adds_the_positive, input="n BIGINT"), "reads its column only", yes="pure commutative")
