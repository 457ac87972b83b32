"""Operators with state of their own: a step takes what was kept, and the rows of a batch, and gives both anew.

The rows of a batch come sorted. Whatever order Spark brings them in, the step sees the same: so these operators are
deterministic, and depend on the order of batches only if the step does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

Rows = list[tuple[Any, ...]]


class Stepping(StatefulProcessor):
    """A processor with one value as its state."""

    reads: tuple[str, ...] = ("k", "n")
    writes: tuple[str, ...] = ("k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        """What is kept from now on, and what comes out. `kept` is None at first."""
        raise NotImplementedError

    def init(self, handle: Any) -> None:
        self.kept = handle.getValueState("kept", "value STRING")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        batch = sorted(row for frame in rows for row in frame[list(self.reads)].itertuples(index=False, name=None))
        before = json.loads(self.kept.get()[0]) if self.kept.exists() else None
        after, out = self.step(before, batch)
        self.kept.update((json.dumps(after),))
        if out:
            yield pd.DataFrame(out, columns=list(self.writes))

    def close(self) -> None: ...


def united(left: DataFrame, right: DataFrame) -> DataFrame:
    """Two ports as one stream, whose column `port` says where a row came from."""
    return left.select("k", F.lit("a left").alias("port"), "n").union(
        right.select("k", F.lit("b right").alias("port"), "n")
    )


def stepped(frame: DataFrame, processor: type[Stepping], by: str = "k", schema: str = "k STRING, n INT") -> DataFrame:
    """The processor over a stream, by a column."""
    return frame.groupBy(by).transformWithStateInPandas(processor(), schema, "Append", "None")


def of_port(rows: Rows, port: str) -> Rows:
    """The rows of a port, as (k, n). The names sort so that the left port's rows come first."""
    return [(k, n) for which, k, n in rows if which == port]
