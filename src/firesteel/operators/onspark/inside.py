"""Operators inside a query: table functions, SQL expressions and aggregates. Each is run as a transformation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.operators.kinds import Schema
from firesteel.operators.onspark.operator import Port, SparkKind, SparkOperator, keys_of, ports_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ENGINES = ("structured", "batch")
VALUE = "value"
"""What the column of an expression is called."""


# --- table functions ---


@dataclass(frozen=True)
class _TableFunction:
    """A table function as a function of a DataFrame."""

    function: Any
    output: Any
    key: tuple[str, ...]
    table: bool

    def __call__(self, frame: DataFrame) -> DataFrame:
        made = self._made()
        if self.table:
            argument = frame.asTable()
            whole = argument.partitionBy(*self.key) if self.key else argument.withSinglePartition()
            return made(whole)  # type: ignore[no-any-return]
        from pyspark.sql import functions

        given = frame.columns
        joined = frame.lateralJoin(made(*[functions.col(name).outer() for name in given]))
        own = joined.columns[len(given) :]
        # Of the row itself only its key is kept, where the function does not put it out.
        return joined.drop(*[frame[name] for name in given if name not in self.key or name in own])

    def _made(self) -> Any:
        if not isinstance(self.function, type):
            return self.function
        from pyspark.sql.functions import udtf as made

        return made(self.function) if self.output is None else made(self.function, returnType=self.output)


def udtf(
    function: Any,
    *,
    input: Schema,
    output: Schema | None = None,
    key: str | Sequence[str] | None = None,
    table: bool = False,
    engine: str = "batch",
) -> SparkOperator:
    """A table function (UDTF): a class with a method `eval`, or what `F.udtf` makes of it.

    It is joined to every row, and `eval` takes the columns of the row. With `table=True` it is called with a whole
    table, `eval` takes a `Row`, and `key` is what the table is partitioned by. `output` is its schema; leave it out
    where the class has a method `analyze`, or where `F.udtf` was given it.

    One object sees all rows of a partition: what it keeps in `self` belongs to whatever lands there together.

    >>> from firesteel import operators
    >>> class Words:
    ...     def eval(self, text):
    ...         for word in text.split():
    ...             yield word,
    >>> operators.udtf(Words, input="text STRING", output="word STRING")
    udtf(Words)
    """
    inner = getattr(function, "func", function)
    if not isinstance(inner, type) or not hasattr(inner, "eval"):
        raise InvalidArgument(
            f"{described('function', function)} is not a table function: write a class with a method eval, without "
            "making an object of it"
        )
    if output is None and inner is function and not hasattr(inner, "analyze"):
        raise InvalidArgument('output=None: say what comes out, output="word STRING", or give the class analyze')
    if output is not None and inner is not function:
        raise InvalidArgument(f"{described('output', output)}: F.udtf was given a schema already, so leave it out")
    ports, keys = _one_port(input, key, "a table function")
    _refuse_engine(engine)
    if table and engine != "batch":
        raise InvalidArgument(f"{described('engine', engine)}: Spark calls a function of a whole table in jobs only")
    made = _TableFunction(function, _schema(output), keys, table)
    return SparkOperator(SparkKind.UDTF, made, ports, keys, engine=engine, user=inner)


# --- expressions ---


@dataclass(frozen=True)
class _Expression:
    """An expression as a function of a DataFrame."""

    given: Any
    key: tuple[str, ...]
    aggregate: bool

    def __call__(self, frame: DataFrame) -> DataFrame:
        column = self._column(frame).alias(VALUE)
        if self.aggregate:
            return frame.groupBy(*self.key).agg(column)
        return frame.select(*self.key, column)

    def _column(self, frame: DataFrame) -> Column:
        from pyspark.sql import functions

        if isinstance(self.given, str):
            return functions.expr(self.given)
        if not callable(self.given):
            return self.given  # type: ignore[no-any-return]
        if hasattr(self.given, "evalType"):  # a UDF takes all columns that are not the key
            return self.given(*[name for name in frame.columns if name not in self.key])  # type: ignore[no-any-return]
        return self.given()  # type: ignore[no-any-return]


def expression(
    expression: Any,
    *,
    input: Schema,
    key: str | Sequence[str] | None = None,
    aggregate: bool = False,
    engine: str | None = None,
) -> SparkOperator:
    """An expression inside a query: SQL text, a column, a function without arguments that makes one, or a UDF.

    A UDF takes the columns of `input` that are not the key, in their order. With `aggregate=True` it is an aggregate of
    all rows, or of the rows of each `key`: `sum(n)`, `first(n)`, an aggregate UDF. What comes out is the key and a
    column `value`. `engine="batch"` runs it in jobs, which is what aggregates do if nothing else is said; "structured"
    runs it on streams, an aggregate in update mode.

    >>> from firesteel import operators
    >>> operators.expression("upper(name)", input="name STRING")
    expression('upper(name)')
    >>> operators.expression("first(n)", input="k INT, n INT", key="k", aggregate=True).engine
    'batch'
    """
    if not isinstance(expression, str) and not callable(expression) and not hasattr(expression, "alias"):
        raise InvalidArgument(
            f'{described("expression", expression)} is not an expression: write SQL such as "n + 1", a column, or a '
            "function that makes one, lambda: F.col('n') + 1"
        )
    ports, keys = _one_port(input, key, "an expression")
    chosen = ("batch" if aggregate else "structured") if engine is None else engine
    _refuse_engine(chosen)
    mode = "append" if not aggregate or chosen == "batch" else "update" if keys else "complete"
    made = _Expression(expression, keys, bool(aggregate))
    user: Callable[..., Any] | None = getattr(expression, "func", expression) if callable(expression) else None
    text = "" if user is not None else str(expression).removeprefix("Column<'").removesuffix("'>")
    return SparkOperator(SparkKind.EXPRESSION, made, ports, keys, mode, chosen, user=user, text=text)


# --- what both refuse ---


def _one_port(input: Any, key: Any, what: str) -> tuple[tuple[Port, ...], tuple[str, ...]]:
    ports = ports_of(input)
    if len(ports) > 1:
        raise InvalidArgument(f"{described('input', input)} names several ports, and {what} has one: write a schema")
    return ports, keys_of(key, ports)


def _refuse_engine(engine: Any) -> None:
    if engine not in _ENGINES:
        known = " or ".join(map(repr, _ENGINES))
        raise InvalidArgument(f"{described('engine', engine)} is not an engine for it: write {known}")


def _schema(schema: Any) -> Any:
    if schema is None or isinstance(schema, str) or hasattr(schema, "fieldNames"):
        return schema
    raise InvalidArgument(f'{described("output", schema)} is not a schema: write "word STRING" or a StructType')
