"""Do two DataFrames hold the same rows? Spark answers, and no more than a few rows come to the driver.

`difference` answers `fs.assert_same`, with an equality and an order that may matter. `surplus` answers the questions of
a batch that stays in Spark, for which rows are equal or not. Both count rows as `firesteel.spark.frames.rows` does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firesteel.evidence.frames import Difference, Undecided
from firesteel.spark.frames.close import judged
from firesteel.spark.frames.columns import by_name, by_position
from firesteel.spark.frames.rows import Arrival, Places, together
from firesteel.spark.frames.stored import stored
from firesteel.values.equality import Equality

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN = 10
"""How many differing rows of each side a `Difference` keeps."""


def difference(
    left: DataFrame, right: DataFrame, equal: Equality, places: Places | None = None
) -> Difference | Undecided | None:
    """How the rows of two frames with columns of the same names and types differ; None if they do not."""
    left, right = stored(left), stored(right)
    both = together(left, right, by_name(left.schema, right.schema, equal.ignore), places)
    with both.uneven().cached() as uneven:
        if uneven.counts == (0, 0):
            return None
        if equal.exact and equal.by is None:
            return Difference(*uneven.counts, *uneven.first(SHOWN), None if places is None else places.key)
        found = judged(uneven, both, equal)
    if isinstance(found, Difference):
        return replace(found, left=found.left[:SHOWN], right=found.right[:SHOWN])
    return found


def surplus(left: DataFrame, right: DataFrame, *, most: int, distinct: bool, only_right: bool) -> Difference:
    """The rows that one of two frames has more often, the first `most` of them in the order in which they come.

    Columns are compared by position. `distinct` looks only at whether a frame has a row, not how often; `only_right`
    leaves out the rows that the left frame has more often.
    """
    left, right = stored(left), stored(right)
    both = together(left, right, by_position(left.schema, right.schema), Arrival())
    with both.uneven(distinct=distinct, only_right=only_right).cached() as uneven:
        return Difference(*uneven.counts, *uneven.first(most)) if any(uneven.counts) else Difference()
