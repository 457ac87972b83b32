"""Operators that only exist on Spark, as values. Spark is not started here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.operators.kinds import Schema, short_name

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

MODES = ("append", "update", "complete")
_ENGINES = ("structured", "batch", "rdd", "dstream")
ONLY_PORT = "input"
"""What the port is called where there is one: a subject is handed it by position."""


class SparkKind(Enum):
    """What Spark does with the function."""

    TRANSFORMATION = "transformation"
    SINK = "sink"
    PROCESSOR = "processor"
    STATE_FUNCTION = "state_function"
    UDTF = "udtf"
    EXPRESSION = "expression"


@dataclass(frozen=True)
class Port:
    """One input: its name and its schema."""

    name: str
    schema: StructType

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.schema.fieldNames())

    @property
    def time(self) -> int | None:
        """The place of its event time, the first column that is a timestamp; None where there is none."""
        kinds = [each.dataType.typeName() for each in self.schema.fields]
        return next((place for place, kind in enumerate(kinds) if kind in ("timestamp", "timestamp_ntz")), None)


@dataclass(frozen=True)
class SparkOperator:
    """A function of DataFrames and its ports. Made by the functions of `firesteel.operators`.

    >>> from firesteel import operators
    >>> operators.transformation(lambda orders: orders.where("n > 1"), input="n INT")
    transformation(f)
    """

    kind: SparkKind
    function: Callable[..., Any]
    ports: tuple[Port, ...]
    key: tuple[str, ...] = ()
    output_mode: str = "append"
    engine: str = "structured"
    read: Callable[..., Any] | None = field(default=None, compare=False)
    fresh: Callable[[], Any] | None = field(default=None, compare=False)
    user: Callable[..., Any] | None = field(default=None, compare=False)
    """The user's own code, where `function` only hands DataFrames to it."""
    waits: bool = False
    """Does it have time-outs that go by the clock?"""
    text: str = ""
    """The SQL that the user wrote, where it is not a function."""

    @property
    def code(self) -> Callable[..., Any]:
        """What the user wrote."""
        return self.function if self.user is None else self.user

    @property
    def name(self) -> str:
        """What a message calls it."""
        return repr(self.text) if self.text else short_name(self.code)

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The functions whose constants are worth trying."""
        if self.text:
            return ()
        if not isinstance(self.code, type):
            return (self.code,)
        return tuple(each for each in vars(self.code).values() if isinstance(each, FunctionType))

    @property
    def streams(self) -> bool:
        """Is it fed micro-batches, and not one batch?"""
        return self.engine in ("structured", "dstream")

    @property
    def plain(self) -> bool:
        """Is it fed plain values, in RDDs or DStreams, and not rows of DataFrames?"""
        return self.engine in ("rdd", "dstream")

    @property
    def has_time(self) -> bool:
        """Has one of its ports a column of event time?"""
        return any(port.time is not None for port in self.ports)

    def port(self, name: str) -> Port:
        """The port of that name."""
        return next(port for port in self.ports if port.name == name)

    def __repr__(self) -> str:
        return f"{self.kind.value}({self.name})"


def transformation(
    function: Callable[..., Any],
    *,
    input: Schema | Mapping[str, Schema],
    key: str | Sequence[str] | None = None,
    output_mode: str = "append",
    engine: str = "structured",
) -> SparkOperator:
    """A function from DataFrames to a DataFrame, or to a dict of them: a streaming one, or with `engine="batch"` a job.

    With `engine="rdd"` it is a function of RDDs, with `engine="dstream"` of DStreams. Their elements are tuples of the
    schema's columns, or plain values where there is one column. Of what comes out, the first values are the key.

    `input` is the schema of what goes in. A dict of schemas names several ports; the function is then called with a
    DataFrame for each name. `key` names the columns by which records belong together, for `partition_isolated` and for
    update mode, where the last row of each key counts.

    >>> from firesteel import operators
    >>> operators.transformation(
    ...     lambda left, right: left.join(right, "k"), input={"left": "k INT, a INT", "right": "k INT, b INT"}, key="k"
    ... ).ports[1].columns
    ('k', 'b')
    """
    ports = ports_of(input)
    if output_mode not in MODES:
        raise InvalidArgument(f"{described('output_mode', output_mode)} is not an output mode: write {_or(MODES)}")
    if engine not in _ENGINES:
        raise InvalidArgument(f"{described('engine', engine)} is not an engine for operators: write {_or(_ENGINES)}")
    if engine != "structured" and output_mode != "append":
        raise InvalidArgument(
            f"{described('output_mode', output_mode)} means nothing for engine={engine!r}: leave it out"
        )
    keys = keys_of(key, ports)
    return SparkOperator(SparkKind.TRANSFORMATION, _function(function), ports, keys, output_mode, engine)


def sink(
    function: Any,
    *,
    input: Schema,
    read: Callable[..., Any],
    fresh: Callable[[], Any],
    key: str | Sequence[str] | None = None,
) -> SparkOperator:
    """What `foreachBatch` takes, a function of a DataFrame and a batch id; or what `foreach` takes, a writer's class.

    It writes where you say it writes. `fresh` makes a new, empty place for every run, such as the path of a directory,
    and returns it. `read` takes the place and returns the rows that are there: a list, a DataFrame, or a dict. If
    `read` raises on a fresh place, the place is empty. The function takes the place as its third argument, and a
    writer's class as its only one; both may leave it out, where `fresh` itself tells them where to write.

    >>> from firesteel import operators
    >>> table = {}
    >>> def upsert(frame, batch_id, place):
    ...     table[place].update({row.k: row.n for row in frame.collect()})
    >>> def fresh():
    ...     place = len(table)
    ...     table[place] = {}
    ...     return place
    >>> operators.sink(upsert, input="k STRING, n INT", read=lambda place: table[place], fresh=fresh)
    sink(upsert)
    """
    ports = ports_of(input)
    if len(ports) > 1:
        raise InvalidArgument(f"{described('input', input)} names several ports, and a sink has one: write a schema")
    if not callable(function) and not hasattr(function, "process"):
        raise InvalidArgument(
            f"{described('function', function)} is not a sink: write a function of a DataFrame and a batch id, or a "
            "class with a method process(row)"
        )
    for name, given in (("read", read), ("fresh", fresh)):
        if not callable(given):
            raise InvalidArgument(f"{described(name, given)} is not a function: write {_HOW[name]}")
    return SparkOperator(SparkKind.SINK, function, ports, keys_of(key, ports), read=read, fresh=fresh)


_HOW = {
    "read": "read=lambda place: ..., which returns the rows that are there",
    "fresh": "fresh=lambda: ..., which makes an empty place and returns it",
}


def _or(names: Sequence[str]) -> str:
    return " or ".join(map(repr, names))


def _function(function: Any) -> Callable[..., Any]:
    if not callable(function):
        raise InvalidArgument(f"{described('function', function)} is not a function: write a function of DataFrames")
    return function  # type: ignore[no-any-return]


def ports_of(input: Any) -> tuple[Port, ...]:
    """The ports of a schema, or of a dict of schemas."""
    from firesteel.values import schemas

    given = input if isinstance(input, Mapping) else {ONLY_PORT: input}
    if not given:
        raise InvalidArgument('input={} names no port: write input={"left": "k INT", "right": "k INT"}')
    found = []
    for name, schema in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidArgument(f"{described('input', name)} is not the name of a port: write a parameter's name")
        if not isinstance(schema, str) and not hasattr(schema, "fieldNames"):
            raise InvalidArgument(
                f'{described("input", schema)} is not a schema: write "user STRING, n INT", a StructType, or a dict of '
                "these by port"
            )
        parsed = schemas.parse(schema)
        assert parsed is not None
        found.append(Port(name, parsed))
    return tuple(found)


def keys_of(key: Any, ports: Sequence[Port]) -> tuple[str, ...]:
    """The columns of a key, which every port has to have."""
    match key:
        case None:
            return ()
        case str():
            keys: tuple[str, ...] = (key,)
        case list() | tuple() if key and all(isinstance(each, str) for each in key):
            keys = tuple(key)
        case _:
            raise InvalidArgument(
                f"{described('key', key)} is not a key: write the name of a column, or a list of them"
            )
    for port in ports:
        for each in keys:
            if each not in port.columns:
                raise InvalidArgument(
                    f"{described('key', key)} names the column {each!r}, which port {port.name!r} does not have: it "
                    f"has {', '.join(port.columns)}"
                )
    return keys
