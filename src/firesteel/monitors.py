"""What a pipeline in production calls: `monitor` and `monitor_equivalence`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.formulas import Constant, FormulaLike, formula_of
from firesteel.tracebacks import with_users_frames
from firesteel.values.dependence import Dependence
from firesteel.values.durations import duration, text
from firesteel.values.equality import Equality
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

    The rule is judged at every instant, for each `key` by itself. An instant is a micro-batch with rows of the key.
    With `over=fs.tumbling("1 minute", on="ts")` it is the key's window of event time, judged when the watermark passes
    its end; windows without rows are instants too. `now.input` has the rows.

    Each row that comes out says where the rule is false: the columns of the key, `kind` ("false"), `instant` (counted
    from 0 for each key), `decided` (the instant that made it false), `time`, `reason`, `records` and `late`. With
    `over=`, rows that come after their windows were judged are counted in `late`, and a row of the kind "late" has
    them.

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
    from firesteel.monitoring.reasons import atoms_of
    from firesteel.monitoring.rule import KeyedRule
    from firesteel.spark.monitor.arguments import columns_of, delay_of, require_streaming
    from firesteel.spark.monitor.rules import Timeout, rule_query
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
    names = tuple(atom.name for atom in atoms_of(formula))
    judged = KeyedRule(formula, without_metadata(frame.schema), over, patience, names)
    _ = judged.fingerprint  # found out here, where the rule was written, and sent along
    timeout: Timeout = "NoTimeout" if idle is None else "ProcessingTimeTimeout"
    if over is not None:
        timeout = "EventTimeTimeout"
    return rule_query(frame, judged.step, columns, timeout=timeout, delay=delay)


@with_users_frames
def monitor_equivalence(
    left: DataFrame,
    right: DataFrame,
    *,
    dependence: Dependence,
    equal: Equality | None = None,
    watermark: str | tuple[str, str | timedelta] | None = None,
    unmatched_at_most: int | None = None,
    overflow: Literal["shed", "stop"] = "shed",
    progress: bool = False,
    groups: int = 16,
    resets: DataFrame | None = None,
) -> DataFrame:
    """Two streaming DataFrames that should be equivalent, as one streaming DataFrame of how they differ.

    `dependence` says which rows must keep their order, and `equal` which rows count as equal, as for `fs.equivalent`.
    The order of a side is that of its micro-batches, in each that of its partitions, and there that of its rows. Rows
    are spread over `groups` by the dependence: by the key of `same_key`, or, if nothing is ordered, by all columns that
    equal rows share. What does not reduce to such columns runs in one task, and a warning says so.

    `watermark` is the event-time column, if both frames have a watermark on it, or the column and a delay. A row that
    has no match by then is reported. `unordered()` needs it.

    Each row that comes out has an `id`, which is the same after a restart, and its `kind`. "difference": the row came
    where the other side has another one. "unmatched": the watermark passed it. Of each key the first difference is
    reported; the rows after it are counted in `quarantined`. "shed": more rows waited than `unmatched_at_most` allows,
    so that some were dropped; with `overflow="stop"` the query fails instead. "progress", if asked for: one row for
    each group and micro-batch in which it has rows, with `unmatched`, `matched`, `quarantined`, and `lag`, the seconds
    that the oldest row had waited then.

    `unmatched_at_most` is for all groups together. Each of them may hold an equal part of it, rounded up, whatever the
    others hold: with 16 groups and `unmatched_at_most=1000` a group sheds when more than 63 rows wait in it.

    `resets` is a streaming DataFrame of keys that are to be compared anew: its columns are those of the key. If there
    is a `watermark`, its column says from which event time on; else it is from this micro-batch on.

    >>> import firesteel as fs
    >>> spark = fs.session()
    >>> numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    >>> left, right = (numbers.selectExpr("value % 3 AS key", f"value {sign} 1 AS n") for sign in "+-")
    >>> found = fs.monitor_equivalence(left, right, dependence=fs.same_key("key"))
    >>> found.columns[:8]
    ['id', 'kind', 'key', 'side', 'left', 'left_place', 'right', 'right_place']
    """
    from firesteel.monitoring.matching.plan import require_count, spread
    from firesteel.monitoring.matching.step import with_places
    from firesteel.spark.monitor.arguments import require_same_schema, require_streaming, resetting, watermarked
    from firesteel.spark.monitor.pairs import pairs_query
    from firesteel.spark.monitor.values import without_metadata

    if overflow not in ("shed", "stop"):
        raise InvalidArgument(f"{described('overflow', overflow)} is not known: write 'shed' or 'stop'")
    at_most = None if unmatched_at_most is None else require_count("unmatched_at_most", unmatched_at_most)
    for name, frame in (("left", left), ("right", right)):
        require_streaming(name, frame)
    require_same_schema(left, right)
    column, wait = _watermark(watermark)
    schema = without_metadata(left.schema)
    how = spread(
        schema,
        dependence,
        equal,
        event_time=column,
        at_most=at_most,
        overflow=overflow,
        progress=progress,
        groups=require_count("groups", groups),
        resets=resets is not None,
    )
    delay = None
    if column is not None:
        left, delay = watermarked("left", left, column, wait)
        right, _ = watermarked("right", right, column, wait)
    if resets is not None:
        if not how.pairing.key:
            raise InvalidArgument(
                f"resets=... does not go with {dependence!r}, which has no keys: start with a new checkpointLocation "
                "to compare anew"
            )
        resets = resetting(resets, left, [*how.pairing.key, *([] if column is None else [column])])
    if not how.columns:
        warnings.warn(
            f"{dependence!r} with {how.pairing.equality!r} does not reduce to columns that Spark can spread rows by, "
            "so all rows go through one task",
            stacklevel=3,
        )
    return pairs_query(
        left,
        right,
        how.pairing.step,
        with_places,
        schema,
        how.columns,
        how.groups,
        delay=delay,
        resets=resets,
        is_mark=how.pairing.is_mark if how.pairing.barriers else None,
    )


def _watermark(given: Any) -> tuple[str | None, str | None]:
    """The event-time column, and the delay of a watermark that it is to have."""
    match given:
        case None:
            return None, None
        case str():
            return given, None
        case (str() as column, (str() | timedelta()) as delay):
            return column, text(duration(delay, "watermark", zero=True))
        case _:
            raise InvalidArgument(
                f"{described('watermark', given)} is not a watermark: write the column and the delay, ('ts', '10 "
                "minutes'), or the column alone if both frames have a watermark on it"
            )
