"""What a pipeline in production calls: `monitor` and `monitor_equivalence`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.formulas import Constant, FormulaLike, formula_of
from firesteel.tracebacks import with_users_frames
from firesteel.values.durations import duration
from firesteel.values.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@with_users_frames
def monitor(
    frame: DataFrame,
    rule: FormulaLike,
    *,
    key: str | Sequence[str] | None = None,
    over: Window | None = None,
    idle: str | timedelta | None = None,
) -> DataFrame:
    """A temporal rule of a streaming DataFrame, as a streaming DataFrame of the instants at which it is false.

    The rule is judged at every instant, for each `key` by itself. An instant is a micro-batch with rows of the key. With
    `over=fs.tumbling("1 minute", on="ts")` it is the key's window of event time, judged when the watermark passes its
    end; windows without rows are instants too. `now.input` has the rows.

    Each row that comes out says where the rule is false: the columns of the key, `kind` ("false"), `instant` (counted
    from 0 for each key), `decided` (the instant that made it false), `time`, `reason`, `records` and `late`. With
    `over=`, rows that come after their windows were judged are counted in `late`, and a row of the kind "late" has them.

    A key is finished, and forgotten, after `idle` without rows: of event time with `over=`, else of processing time.
    Then operators without a bound close.

    >>> import firesteel as fs
    >>> spark = fs.session()
    >>> numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    >>> small = fs.monitor(numbers, lambda now: now.input.every(lambda row: row.value < 4))
    >>> small.columns
    ['kind', 'instant', 'decided', 'time', 'reason', 'records', 'late']

    The state of a key is in Spark's checkpoint. A query that starts from a checkpoint of another rule is refused.
    """
    from firesteel.monitoring.rule import KeyedRule
    from firesteel.spark.monitor.arguments import columns_of, delay_of, require_streaming
    from firesteel.spark.monitor.rules import rule_query
    from firesteel.spark.monitor.values import without_metadata

    formula = formula_of(rule, "rule")
    if isinstance(formula, Constant):
        raise InvalidArgument(
            f"{described('rule', rule)} is the same for every stream: write a function of the instant"
        )
    patience = None if idle is None else duration(idle, "idle")
    require_streaming("frame", frame)
    columns = columns_of("key", key, frame)
    delay = None
    if over is not None:
        if not isinstance(over, Window):
            raise InvalidArgument(f"{described('over', over)} is not a window: write fs.tumbling('1 minute', on='ts')")
        if not isinstance(over.on, str):
            raise InvalidArgument(f"{described('on', over.on)} names several streams, and there is one: write on='ts'")
        delay = delay_of("frame", frame, over.on)
    judged = KeyedRule(formula, without_metadata(frame.schema), over, patience)
    timeout = "EventTimeTimeout" if over is not None else "NoTimeout" if idle is None else "ProcessingTimeTimeout"
    return rule_query(frame, judged.step, columns, timeout=timeout, delay=delay)
