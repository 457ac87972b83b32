"""Expressions, table functions and functions with state, inside a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from benchmarks.operators.suite import Suite
from pyspark.sql import Row

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"


# --- expressions ---

SUITE.add(
    "any value of a key",
    operators.expression("any_value(n)", input=KEYED, key="k", aggregate=True),
    "the first row that arrives is taken",
    no="deterministic",
    like="aggregate",
)
SUITE.add(
    "how many different values a key has",
    operators.expression("count(distinct n)", input=KEYED, key="k", aggregate=True),
    "a set has no order, and each key has its own; of one row the count is one row",
    yes="deterministic one_to_one commutative partition_isolated",
    like="aggregate",
)
SUITE.add(
    "the parity of a key",
    operators.expression("bit_xor(n)", input=KEYED, key="k", aggregate=True, engine="structured"),
    "a second record of a key gives another value than the first; exclusive or has no order",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="a value that comes twice is gone again, as if nothing had been kept",
    like="aggregate",
)
SUITE.add(
    "rounded to hundreds",
    operators.expression("round(n, -2)", input=KEYED, key="k"),
    "each row by itself",
    yes="deterministic one_to_one stateless commutative partition_isolated",
    like="functor",
)


# --- table functions ---


class Words:
    """A row for each word."""

    def eval(self, k: str, line: str) -> Iterator[tuple[str]]:
        for word in line.split():
            yield (word,)


class Places:
    """Numbers the rows that it sees."""

    def __init__(self) -> None:
        self.count = 0

    def eval(self, k: str, n: int) -> Iterator[tuple[int]]:
        self.count += 1
        yield (self.count,)


class Total:
    """The sum of a table's partition, at its end. An object that has seen no rows says nothing."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.total = 0

    def eval(self, row: Row) -> None:
        self.key, self.total = row["k"], self.total + row["n"]

    def terminate(self) -> Iterator[tuple[str, int]]:
        if self.key is not None:
            yield self.key, self.total


SUITE.add(
    "words of a line, by a table function",
    operators.udtf(
        Words, input="k STRING NOT NULL, line STRING NOT NULL", output="word STRING", key="k", engine="structured"
    ),
    "each row by itself; a line of two words gives two rows, a blank one none",
    no="one_to_one",
    yes="deterministic stateless commutative partition_isolated",
    like="split",
)
SUITE.add(
    "a table function that counts",
    operators.udtf(Places, input=KEYED, output="place INT", key="k"),
    "one object sees all rows of a partition, so a row's number goes by its place there",
    no="commutative partition_isolated",
    yes="deterministic one_to_one",
    surprise="it is called for each row, and looks as if it were made for each",
    like="custom state",
)
SUITE.add(
    "totals of a partitioned table",
    operators.udtf(Total, input=KEYED, output="k STRING, total BIGINT", key="k", table=True),
    "the table is partitioned by the key, and whole numbers are added in any order",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="it keeps what it sees in self, as the one that counts does",
    like="aggregate",
)


# --- functions with state ---


def visits(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    count = (state.get[0] if state.exists else 0) + sum(map(len, frames))
    state.update((count,))
    yield pd.DataFrame({"k": [key[0]], "n": [count]})


def first_seen(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    smallest = min(int(n) for frame in frames for n in frame["n"])
    if not state.exists:
        state.update((smallest,))
        yield pd.DataFrame({"k": [key[0]], "n": [smallest]})


SUITE.add(
    "visits of each key, updated",
    operators.state_function(visits, key="k", input=KEYED, output="k STRING, n INT", state="n INT"),
    "the count of a key comes out with each of its records, and the last one counts",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="a function of one's own with a state, and it has no order",
    like="custom state",
)
SUITE.add(
    "the first value of each key",
    operators.state_function(
        first_seen, key="k", input=KEYED, output="k STRING, n INT", state="n INT", output_mode="append"
    ),
    "the smallest value of the first batch of a key; which batch is the first depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    like="deduplicate",
)
