"""Operators as values: a function, and what Spark does with functions of its kind.

    from firesteel import operators
    fs.analyze(operators.reducer(lambda a, b: a - b))

Nothing here imports Spark. What a firing is for each kind, and what each property means for it, is in `properties`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Schema: TypeAlias = "StructType | str"


class Family(Enum):
    """How an operator is fed."""

    CALLS = "calls"
    """A firing is a call with its arguments."""
    FOLDS = "folds"
    """A firing is a fold: partitions of values, folded and merged from left to right."""
    COLUMNS = "columns"
    """A firing is a partition: batches of rows."""
    GROUPS = "groups"
    """A firing is a group: the rows of each port."""


class Kind(Enum):
    """What Spark does with the function."""

    FUNCTION = "function"
    FLAT = "flat"
    REDUCER = "reducer"
    AGGREGATE = "aggregate"
    COMBINER = "combiner"
    PANDAS_UDF = "pandas_udf"
    ARROW_UDF = "arrow_udf"
    MAP_IN_PANDAS = "map_in_pandas"
    MAP_IN_ARROW = "map_in_arrow"
    GROUPED_MAP = "grouped_map"
    COGROUPED_MAP = "cogrouped_map"
    GROUPED_AGG = "grouped_agg"
    PARTITION_FUNCTION = "partition_function"

    @property
    def family(self) -> Family:
        """How it is fed.

        >>> Kind.REDUCER.family
        <Family.FOLDS: 'folds'>
        """
        match self:
            case Kind.FUNCTION | Kind.FLAT | Kind.PARTITION_FUNCTION:
                return Family.CALLS
            case Kind.REDUCER | Kind.AGGREGATE | Kind.COMBINER | Kind.GROUPED_AGG:
                return Family.FOLDS
            case Kind.GROUPED_MAP | Kind.COGROUPED_MAP:
                return Family.GROUPS
            case _:
                return Family.COLUMNS

    @property
    def scalar_columns(self) -> bool:
        """Columns in, and a column of the same length out?"""
        return self in (Kind.PANDAS_UDF, Kind.ARROW_UDF)


@dataclass(frozen=True)
class Operator:
    """A function and its kind. Made by the functions of `firesteel.operators`.

    >>> from firesteel import operators
    >>> operators.reducer(max)
    reducer(max)
    """

    kind: Kind
    functions: tuple[Callable[..., Any], ...]
    zero: Any = None
    key: tuple[str | int, ...] = ()
    inputs: tuple[Schema | None, ...] = (None,)
    """The declared schema of every port."""
    output: Schema | None = None
    partitions: bool = False
    """Of `flat`: is the function given an iterator over a partition?"""
    label: str = field(default="", compare=False)

    @property
    def function(self) -> Callable[..., Any]:
        """The function; of an aggregate the one that adds a value."""
        return self.functions[0]

    @property
    def name(self) -> str:
        """What a message calls it.

        >>> from firesteel import operators
        >>> operators.function(str.upper).name
        'upper'
        """
        return self.label or short_name(self.function)

    @property
    def written(self) -> str:
        """The call that makes it.

        >>> from firesteel import operators
        >>> operators.flat(str.split, key="word", input="word STRING").written
        "operators.flat(split, key='word', input='word STRING')"
        >>> operators.aggregate(0, lambda n, x: n + 1, max).written
        'operators.aggregate(0, f, max)'
        """
        said = [repr(self.zero)] if self.kind is Kind.AGGREGATE else []
        said += map(short_name, self.functions)
        said += ["partitions=True"] if self.partitions else []
        if self.key:
            said.append(f"key={(self.key[0] if len(self.key) == 1 else list(self.key))!r}")
        ports = ("left", "right") if len(self.inputs) == 2 else ("input",)
        said += [f"{port}={schema!r}" for port, schema in zip(ports, self.inputs, strict=True) if schema is not None]
        return f"operators.{self.kind.value}({', '.join(said)})"

    def __repr__(self) -> str:
        return f"{self.kind.value}({', '.join(map(short_name, self.functions))})"


def short_name(function: Callable[..., Any]) -> str:
    """The name of a function, or `f` where it has none that could be called.

    >>> short_name(lambda a, b: a - b), short_name(max)
    ('f', 'max')
    """
    while isinstance(function, partial):
        function = function.func
    if getattr(function, "__name__", None) == "<lambda>":
        return "f"
    name = name_of(function)
    return name if name.isidentifier() else "f"


def _callable(name: str, function: Any) -> Callable[..., Any]:
    if not callable(function):
        raise InvalidArgument(f"{described(name, function)} is not a function: write a function or a lambda")
    inner = getattr(function, "func", None)  # what F.udf and F.pandas_udf hold
    if inner is not None and hasattr(function, "evalType") and callable(inner):
        return inner  # type: ignore[no-any-return]
    return function  # type: ignore[no-any-return]


def _key(key: str | int | Sequence[str | int] | None) -> tuple[str | int, ...]:
    match key:
        case None:
            return ()
        case str() | int() if not isinstance(key, bool):
            return (key,)
        case list() | tuple() if key and all(isinstance(each, str | int) for each in key):
            return tuple(key)
        case _:
            raise InvalidArgument(
                f"{described('key', key)} is not a key: write the name of a column, or a list of them"
            )


def _schema(name: str, schema: Any) -> Schema | None:
    if schema is None or isinstance(schema, str) or hasattr(schema, "fieldNames"):
        return schema  # type: ignore[no-any-return]
    raise InvalidArgument(f'{described(name, schema)} is not a schema: write "user STRING, n INT" or a StructType')


def function(function: Callable[..., Any], *, key: str | int | None = None, input: Schema | None = None) -> Operator:
    """A plain function, or what is inside `F.udf`: one record or value in, one out.

    `key` names the parameter or column by which records belong together, for `partition_isolated`. `input` is the
    schema of what goes in: its columns are the arguments, or one `Row` where the function takes one argument.

    >>> from firesteel import operators
    >>> operators.function(lambda word: word.upper(), input="word STRING")
    function(f)
    """
    return Operator(Kind.FUNCTION, (_callable("function", function),), None, _key(key), (_schema("input", input),))


def flat(
    function: Callable[..., Any],
    *,
    partitions: bool = False,
    key: str | int | None = None,
    input: Schema | None = None,
) -> Operator:
    """A function with one in and many out, as `flatMap` takes; with `partitions=True` as `mapPartitions` takes.

    >>> from firesteel import operators
    >>> operators.flat(str.split)
    flat(split)
    """
    chosen = _callable("function", function)
    return Operator(Kind.FLAT, (chosen,), None, _key(key), (_schema("input", input),), None, bool(partitions))


def reducer(function: Callable[[Any, Any], Any]) -> Operator:
    """A function with two in and one out, as `reduceByKey` and `reduce` take.

    >>> from firesteel import operators
    >>> operators.reducer(lambda a, b: a + b)
    reducer(f)
    """
    return Operator(Kind.REDUCER, (_callable("function", function),))


def aggregate(zero: Any, seq_op: Callable[[Any, Any], Any], comb_op: Callable[[Any, Any], Any]) -> Operator:
    """What `aggregateByKey` takes: a zero, a function that adds a value, and one that merges two sums.

    >>> from firesteel import operators
    >>> operators.aggregate(0, lambda total, value: total + value, max)
    aggregate(f, max)
    """
    return Operator(Kind.AGGREGATE, (_callable("seq_op", seq_op), _callable("comb_op", comb_op)), zero)


def combiner(
    create: Callable[[Any], Any], merge_value: Callable[[Any, Any], Any], merge_combiners: Callable[[Any, Any], Any]
) -> Operator:
    """What `combineByKey` takes: a function that starts a sum, one that adds a value, one that merges two sums.

    >>> from firesteel import operators
    >>> operators.combiner(int, max, max)
    combiner(int, max, max)
    """
    given = {"create": create, "merge_value": merge_value, "merge_combiners": merge_combiners}
    return Operator(Kind.COMBINER, tuple(_callable(name, each) for name, each in given.items()))


def _columnar(
    kind: Kind, function: Any, key: Any, inputs: tuple[Schema | None, ...], output: Schema | None = None
) -> Operator:
    schemas = tuple(_schema("input", each) for each in inputs)
    return Operator(kind, (_callable("function", function),), None, _key(key), schemas, _schema("output", output))


def pandas_udf(function: Callable[..., Any], *, input: Schema | None = None, key: str | None = None) -> Operator:
    """A scalar pandas UDF: pandas Series in, a Series of the same length out.

    >>> from firesteel import operators
    >>> operators.pandas_udf(lambda price: price - price.mean(), input="price DOUBLE")
    pandas_udf(f)
    """
    return _columnar(Kind.PANDAS_UDF, function, key, (input,))


def arrow_udf(function: Callable[..., Any], *, input: Schema | None = None, key: str | None = None) -> Operator:
    """A scalar Arrow UDF: Arrow arrays in, an array of the same length out.

    >>> from firesteel import operators
    >>> operators.arrow_udf(lambda n: n, input="n BIGINT")
    arrow_udf(f)
    """
    return _columnar(Kind.ARROW_UDF, function, key, (input,))


def map_in_pandas(
    function: Callable[..., Any], *, input: Schema | None = None, output: Schema | None = None, key: str | None = None
) -> Operator:
    """What `mapInPandas` takes: an iterator of pandas DataFrames in, and one out.

    >>> from firesteel import operators
    >>> operators.map_in_pandas(lambda frames: frames, input="n BIGINT")
    map_in_pandas(f)
    """
    return _columnar(Kind.MAP_IN_PANDAS, function, key, (input,), output)


def map_in_arrow(
    function: Callable[..., Any], *, input: Schema | None = None, output: Schema | None = None, key: str | None = None
) -> Operator:
    """What `mapInArrow` takes: an iterator of Arrow record batches in, and one out.

    >>> from firesteel import operators
    >>> operators.map_in_arrow(lambda batches: batches, input="n BIGINT")
    map_in_arrow(f)
    """
    return _columnar(Kind.MAP_IN_ARROW, function, key, (input,), output)


def grouped_map(
    function: Callable[..., Any],
    *,
    key: str | Sequence[str],
    input: Schema | None = None,
    output: Schema | None = None,
) -> Operator:
    """What `groupBy(key).applyInPandas` takes: the rows of a group as a DataFrame, with or without the key before it.

    >>> from firesteel import operators
    >>> operators.grouped_map(lambda frame: frame.head(1), key="user", input="user STRING, n BIGINT")
    grouped_map(f)
    """
    return _columnar(Kind.GROUPED_MAP, function, key, (input,), output)


def cogrouped_map(
    function: Callable[..., Any],
    *,
    key: str | Sequence[str],
    left: Schema | None = None,
    right: Schema | None = None,
    output: Schema | None = None,
) -> Operator:
    """What `cogroup(...).applyInPandas` takes: the rows of a group of two DataFrames. The two ports are left and right.

    >>> from firesteel import operators
    >>> operators.cogrouped_map(lambda l, r: l, key="k", left="k INT, a INT", right="k INT, b INT")
    cogrouped_map(f)
    """
    return _columnar(Kind.COGROUPED_MAP, function, key, (left, right), output)


def grouped_agg(function: Callable[..., Any], *, input: Schema | None = None) -> Operator:
    """A grouped aggregate pandas UDF: pandas Series in, one value out.

    >>> from firesteel import operators
    >>> operators.grouped_agg(lambda price: price.mean(), input="price DOUBLE")
    grouped_agg(f)
    """
    return _columnar(Kind.GROUPED_AGG, function, None, (input,))


def partition_function(function: Callable[[Any], int]) -> Operator:
    """What `partitionBy` and `reduceByKey` take to place a key: the same key has to get the same number everywhere.

    >>> from firesteel import operators
    >>> operators.partition_function(hash)
    partition_function(hash)
    """
    return Operator(Kind.PARTITION_FUNCTION, (_callable("function", function),))


def inner_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function inside partials and bound methods, down to the one that has code."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif not hasattr(function, "__code__"):
            call = getattr(type(function).__call__, "__code__", None)
            return function if call is None else type(function).__call__
        else:
            return getattr(function, "__func__", function)
