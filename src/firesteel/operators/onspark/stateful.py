"""Operators with state in Python: processors of `transformWithState`, functions of `applyInPandasWithState`.

Each is a transformation that groups its input by the key and hands the groups to the user's code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from firesteel.errors import InvalidArgument, described
from firesteel.operators.kinds import Schema
from firesteel.operators.onspark.operator import MODES, Port, SparkKind, SparkOperator, keys_of, ports_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TIME_MODES = {"none": "None", "processingTime": "ProcessingTime", "eventTime": "EventTime"}
_TIMEOUTS = {"none": "NoTimeout", "processingTime": "ProcessingTimeTimeout", "eventTime": "EventTimeTimeout"}
TimeMode = Literal["none", "processingTime", "eventTime"]


@dataclass(frozen=True)
class Grouped:
    """What the two have in common."""

    key: tuple[str, ...]
    output: Any
    output_mode: str
    time_mode: str
    time: str | None
    watermark: str

    @property
    def waits(self) -> bool:
        return self.time_mode == "processingTime"

    def groups(self, frame: DataFrame) -> Any:
        if self.time_mode == "eventTime" and self.time is not None:
            frame = frame.withWatermark(self.time, self.watermark)
        return frame.groupBy(*self.key)


@dataclass(frozen=True)
class Processing:
    """A processor as a function of a DataFrame."""

    by: Grouped
    factory: Callable[[], Any]
    initial_state: Callable[[SparkSession], DataFrame] | None = None
    rows: bool = False
    """Does it take and give rows, and not frames of pandas?"""

    def __call__(self, frame: DataFrame) -> DataFrame:
        initial = None if self.initial_state is None else self.initial_state(frame.sparkSession).groupBy(*self.by.key)
        groups = self.by.groups(frame)
        transform = groups.transformWithState if self.rows else groups.transformWithStateInPandas
        made: DataFrame = transform(
            self.factory(), self.by.output, self.by.output_mode.capitalize(), _TIME_MODES[self.by.time_mode], initial
        )
        return made


@dataclass(frozen=True)
class StateFunction:
    """A function with state as a function of a DataFrame."""

    by: Grouped
    function: Callable[..., Any]
    state: Any

    def __call__(self, frame: DataFrame) -> DataFrame:
        made: DataFrame = self.by.groups(frame).applyInPandasWithState(
            self.function, self.by.output, self.state, self.by.output_mode.capitalize(), _TIMEOUTS[self.by.time_mode]
        )
        return made


def processor(
    factory: Callable[[], Any],
    *,
    key: str | Sequence[str],
    input: Schema,
    output: Schema,
    output_mode: str = "append",
    time_mode: TimeMode = "none",
    initial_state: Callable[[SparkSession], DataFrame] | None = None,
    watermark: str = "0 seconds",
    rows: bool = False,
) -> SparkOperator:
    """A `StatefulProcessor` for `transformWithStateInPandas`: its class, or a function that makes one. With `rows=True`
    it is one for `transformWithState`, which takes and gives rows.

    `initial_state` is a function of the session that gives the DataFrame to start from. With `time_mode="eventTime"`
    the first TIMESTAMP column is the event time, and `watermark` how late a record may come. Its timers and its TTL run
    on a clock of the query's own: `fs.analyze(..., delays=["2 minutes"])` waits two minutes between records at no cost.

    >>> from firesteel import operators
    >>> class Count: ...
    >>> operators.processor(Count, key="user", input="user STRING, n INT", output="user STRING, n INT")
    processor(Count)
    """
    if not callable(factory):
        raise InvalidArgument(
            f"{described('factory', factory)} is not the class of a processor: write processor(SessionTracker, ...), "
            "without making one"
        )
    if initial_state is not None and not callable(initial_state):
        raise InvalidArgument(
            f"{described('initial_state', initial_state)} is not a function: write "
            "initial_state=lambda spark: spark.createDataFrame(...)"
        )
    ports, by = _common(key, input, output, output_mode, time_mode, watermark)
    made = Processing(by, factory, initial_state, bool(rows))
    return SparkOperator(SparkKind.PROCESSOR, made, ports, by.key, output_mode, user=factory, waits=by.waits)


def state_function(
    function: Callable[..., Any],
    *,
    key: str | Sequence[str],
    input: Schema,
    output: Schema,
    state: Schema,
    output_mode: str = "update",
    time_mode: TimeMode = "none",
    watermark: str = "0 seconds",
) -> SparkOperator:
    """What `groupBy(key).applyInPandasWithState` takes: a function of a key, frames and a state. `state` is its schema.

    `time_mode` says which clock its time-outs go by.

    >>> from firesteel import operators
    >>> def count(key, frames, state): ...
    >>> operators.state_function(count, key="k", input="k INT", output="k INT, n INT", state="n INT")
    state_function(count)
    """
    if not callable(function):
        raise InvalidArgument(f"{described('function', function)} is not a function of a key, frames and a state")
    ports, by = _common(key, input, output, output_mode, time_mode, watermark)
    made = StateFunction(by, function, _schema("state", state))
    return SparkOperator(SparkKind.STATE_FUNCTION, made, ports, by.key, output_mode, user=function, waits=by.waits)


def _common(
    key: Any, input: Any, output: Any, output_mode: Any, time_mode: Any, watermark: str
) -> tuple[tuple[Port, ...], Grouped]:
    ports = ports_of(input)
    if len(ports) > 1:
        raise InvalidArgument(f"{described('input', input)} names several ports, and it has one: write a schema")
    keys = keys_of(key, ports)
    if not keys:
        raise InvalidArgument('key=None: state belongs to a key, so name its columns, key="user"')
    if output_mode not in MODES[:2]:
        raise InvalidArgument(
            f"{described('output_mode', output_mode)} is not a mode of operators with state: write 'append' or 'update'"
        )
    if time_mode not in _TIME_MODES:
        known = ", ".join(map(repr, _TIME_MODES))
        raise InvalidArgument(f"{described('time_mode', time_mode)} is not a time mode: write one of {known}")
    place = ports[0].time
    if time_mode == "eventTime" and place is None:
        raise InvalidArgument("time_mode='eventTime' needs a TIMESTAMP column in input=, and there is none")
    time = None if place is None else ports[0].columns[place]
    return ports, Grouped(keys, _schema("output", output), output_mode, time_mode, time, watermark)


def _schema(name: str, schema: Any) -> Any:
    if isinstance(schema, str) or hasattr(schema, "fieldNames"):
        return schema
    raise InvalidArgument(f'{described(name, schema)} is not a schema: write "user STRING, n INT" or a StructType')
