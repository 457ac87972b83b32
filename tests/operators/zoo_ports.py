"""Functions of two ports: which one waits for the other?"""

from __future__ import annotations

from typing import Any

from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()


def two(function: Any, why: str, **options: Any) -> None:
    made = operators.cogrouped_map(function, key="k", left="k INT, a BIGINT", right="k INT, b BIGINT")
    ZOO.add(made, why, **options)


def _nothing(frame: Any) -> Any:
    return frame.iloc[:0]


_waiting: list[Any] = []


def waits_for_ever(left: Any, right: Any) -> Any:
    return left if len(right) else _nothing(left)


two(
    lambda left, right: left[left.k.isin(right.k)],
    "a semi join: a left row waits for its key on the right",
    no="non_blocking",
    name="left semi join",
)
two(
    lambda left, right: right[right.k.isin(left.k)],
    "the right rows wait for the left",
    no="non_blocking",
    name="right semi join",
)
two(waits_for_ever, "a gate: left rows pass when anything comes on the right", no="non_blocking", name="gate")
two(
    lambda left, right: left if len(right) >= 1 else _nothing(left),
    "a barrier of one record",
    no="non_blocking",
    name="barrier",
)
two(
    lambda left, right: left.head(len(right)),
    "each right record lets one left row pass",
    no="non_blocking",
    name="turnstile",
)
two(
    lambda left, right: left.drop_duplicates() if len(right) else _nothing(left),
    "distinct rows, once the right is there",
    no="non_blocking",
    name="distinct gate",
)
two(
    lambda left, right: left[["a"]] if len(right) else left[["a"]].iloc[:0],
    "a gate that keeps one column",
    no="non_blocking",
    name="narrow gate",
)
two(
    lambda left, right: right[["k", "b"]] if len(left) else _nothing(right),
    "a gate for the right port",
    no="non_blocking",
    name="right gate",
)
two(
    lambda left, right: left.sort_values("a") if not right.empty else _nothing(left),
    "sorted, once the right is there",
    no="non_blocking",
    name="sorted gate",
)
two(
    lambda left, right: left[left.a >= 0] if len(right) else left[left.a < 0],
    "rows from 0 on wait",
    no="non_blocking",
    name="half a gate",
)
two(
    lambda left, right: left.assign(ok=True) if len(right) else _nothing(left.assign(ok=True)),
    "confirmed rows wait for the right",
    no="non_blocking",
    name="confirmed",
)
two(
    lambda left, right: left.tail(1) if len(right) > 0 else _nothing(left),
    "the last left row waits",
    no="non_blocking",
    name="last waits",
)

two(
    lambda left, right: left.merge(right, on="k"),
    "an inner join is made of both",
    yes="non_blocking",
    name="inner join",
)
two(
    lambda left, right: left.merge(right, on="k", how="left"),
    "an outer join shows the left row at once",
    yes="non_blocking",
    name="left join",
)
two(
    lambda left, right: left.merge(right, on="k", how="right"),
    "an outer join shows the right row at once",
    yes="non_blocking",
    name="right join",
)
two(
    lambda left, right: left.merge(right, on="k", how="outer"),
    "an outer join shows both",
    yes="non_blocking",
    name="outer join",
)
two(
    lambda left, right: left[~left.k.isin(right.k)],
    "an anti join takes rows back, it does not hold them",
    yes="non_blocking",
    name="anti join",
)
two(lambda left, right: left, "the right port is ignored", yes="non_blocking stateless", name="left only")
two(lambda left, right: right, "the left port is ignored", yes="non_blocking stateless", name="right only")
two(
    lambda left, right: left.assign(n=len(right)),
    "every left row shows the number of right ones, also 0",
    yes="non_blocking stateless",
    name="counts the right",
)
two(
    lambda left, right: left.head(1).assign(a=len(left) + len(right)) if len(left) else _nothing(left),
    "a sum of both sizes",
    yes="non_blocking",
    name="sizes",
)
two(
    lambda left, right: left.assign(a=left.a + right.b.sum()),
    "added to the right's sum, 0 if there is none",
    yes="non_blocking stateless",
    name="added",
)
two(
    lambda left, right: left.merge(right, on="k").assign(c=1)[["k", "a", "b"]],
    "an inner join with its columns in order",
    yes="non_blocking",
    name="inner join again",
)
two(
    lambda left, right: left.assign(a=left.a * 2),
    "the left port alone",
    yes="non_blocking stateless",
    name="doubled left",
)
