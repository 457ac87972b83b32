"""Carries the hidden column past nodes with Python functions, which neither see nor lose it.

The node is made again with a wider function, which `carry_workers` wraps around the user's own, and with the column
as a further key, so that groups, state and timers of cases stay apart.

mapInPandas and mapInArrow have no groups: a partition mixes the records of cases, and so do the frames made of it. The
wrapper takes a partition apart, and calls the function once for every case that has records in it, with frames of the
case's own. In a run alone, Spark also calls the function for partitions without records. So it is tried with no records
beforehand, and refused if it yields any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk import carry_columns as columns
from firesteel.spark.bulk import carry_workers as workers
from firesteel.spark.bulk.held import kept_by_pickled
from firesteel.spark.failures import CannotCarry, root_cause
from firesteel.spark.plans.catalyst import Catalyst
from firesteel.spark.plans.tree import Expression, Node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES = frozenset(
    {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark",
     "MapInPandas", "MapInArrow"}
)  # fmt: skip
"""The nodes that can be carried through here."""

STATEFUL = frozenset({"FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"})
"""Those whose functions are told the watermark."""


COLUMN_FUNCTIONS: dict[object, tuple[Callable[..., Any], columns.Columns]] = {
    200: (columns.of_columns, columns.Series), 204: (columns.of_parts, columns.Series),
    250: (columns.of_columns, columns.Arrays), 251: (columns.of_parts, columns.Arrays),
}  # fmt: skip
"""Functions of whole columns (pandas series, Arrow arrays, iterators of these) by PySpark's numbers for them."""


def column_function(catalyst: Catalyst, udf: Expression, arguments: list[Any], case: Any) -> Any:
    """A function of whole columns, called for every case by itself: the column is its last argument."""
    types = [_exact_types(catalyst.spark).get(each.data_type or "") for each in udf.children]
    names = [each.arguments["key"] if each.kind == "NamedArgumentExpression" else None for each in udf.children]
    wrap, kind = COLUMN_FUNCTIONS[udf.arguments["evalType"]]
    if kind is columns.Series:
        _refuse_nulls_in(udf.children, structs=True)
    known = columns.Arguments(types, [None if name is None else str(name) for name in names], _most(catalyst.spark))
    wrapper = wrap(kind, workers.Pickled(_command(catalyst, udf)), known)
    return _function(catalyst, udf, wrapper, udf.handle.dataType(), [*arguments, case])


def carried(catalyst: Catalyst, node: Node, made: Any, case: Any) -> tuple[Any, Any]:
    """A node made again over a child that has the column `case`, and the column's attribute in its output."""
    again = _Again(catalyst, node, made, case)
    match node.kind:
        case "FlatMapGroupsInPandas" | "FlatMapGroupsInArrow":
            return again.grouped(), again.field
        case "FlatMapGroupsInPandasWithState":
            return again.with_state(), again.field
        case "TransformWithStateInPySpark":
            return again.transformed(), again.field
        case "MapInPandas" | "MapInArrow":
            return again.mapped(), again.field
        case kind:
            raise AssertionError(kind)


class _Again:
    """One node with a Python function, on its way to being made again."""

    def __init__(self, catalyst: Catalyst, node: Node, made: Any, case: Any) -> None:
        self._catalyst, self._spark, self._logical = catalyst, catalyst.spark, catalyst.logical
        self._node, self._plan, self._made, self._case = node, node.handle, made, case
        (self._udf,) = node.expressions_of("functionExpr")
        self._returned = self._udf.handle.dataType()
        # The user's function may well make a column of the same name.
        self._columns: list[str] = list(self._returned.fieldNames())
        self._name = _other_than(self._columns, case.name())
        self.field = case.newInstance().withName(self._name).withNullability(True)

    # --- nodes ---

    def grouped(self) -> Any:
        keys = self._node.expressions_of("groupingAttributes")
        values = _handles(self._values(len(keys)))
        wrap = workers.grouped_parts if self._udf.arguments["evalType"] in _iterators() else workers.grouped
        widen = self._widened_arrow() if self._node.kind == "FlatMapGroupsInArrow" else self._widened_frame()
        function = self._function(wrap(self._pickled(), widen), values)
        keyed = [*_handles(keys), self._case]
        return getattr(self._logical, self._node.kind)(
            self._catalyst.seq(keyed),
            function,
            self._plan.output().appended(self.field),
            self._projected([*keyed, *values]),
        )

    def with_state(self) -> Any:
        keys = self._node.expressions_of("groupingAttributes")
        if not keys:
            raise CannotCarry("it keeps state without a key")
        values = [*_handles(self._values(0)), self._case]  # unlike in other nodes, no keys come before them
        widen = workers.widened_frame(self._name, len(self._columns), named=True)
        function = self._function(workers.with_state(self._pickled(), widen), values)
        return self._logical.FlatMapGroupsInPandasWithState(
            function,
            self._catalyst.seq([*_handles(keys), self._case]),
            self._plan.outputAttrs().appended(self.field),
            self._plan.stateType(),
            self._plan.outputMode(),
            self._plan.timeout(),
            self._projected(values),
        )

    def transformed(self) -> Any:
        if self._node.argument("hasInitialState"):
            raise CannotCarry("its state starts from a table, which has no cases")
        number = self._node.argument("groupingAttributesLen")
        if not isinstance(number, int) or not number:
            raise CannotCarry("it keeps state without a key")
        keys, values = self._values(0)[:number], self._values(number)
        shown = [*_handles(values), self._case]
        # The column is among the values, too: Spark names columns by their places here, which must not change.
        child = self._projected([*_handles(keys), self._case, *shown])
        return self._logical.TransformWithStateInPySpark(
            self._function(self._processing(keys, values), shown),
            number + 1,
            self._plan.outputAttrs().appended(self.field),
            self._plan.outputMode(),
            self._plan.timeMode(),
            self._plan.userFacingDataType(),
            child,
            False,
            self._plan.initialState(),
            self._plan.initGroupingAttrsLen(),
            self._plan.initialStateSchema(),
        )

    def mapped(self) -> Any:
        # A profile of resources cannot be read, so that it is not among the arguments.
        if self._node.argument("isBarrier") or self._node.arguments.get("profile", "some") is not None:
            raise CannotCarry("it maps with a barrier or with resources of its own")
        self._try_without_records()
        values = self._values(0)
        most = _most(self._spark)
        if self._node.kind == "MapInArrow":
            wrapper = workers.mapped(self._pickled(), self._widened_arrow(), workers.batches_by_case(most))
        else:
            _refuse_nulls_in(values, structs=False)
            wrapper = workers.mapped(
                self._pickled(), self._widened_frame(), workers.frames_by_case(most, self._exact(values))
            )
        shown = [*_handles(values), self._case]
        return getattr(self._logical, self._node.kind)(
            self._function(wrapper, shown),
            self._plan.output().appended(self.field),
            self._projected(shown),
            False,
            self._plan.profile(),
        )

    # --- what they are made of ---

    def _values(self, keys: int) -> Sequence[Expression]:
        """What the function gets to see: everything behind the keys, without the column."""
        return self._node.children[0].output[keys:]

    def _projected(self, expressions: list[Any]) -> Any:
        return self._catalyst.project(self._catalyst.seq(expressions), self._made)

    def _null(self, attribute: Expression) -> Any:
        """A null in place of an attribute."""
        kept = attribute.handle
        null = self._catalyst.expressions.Literal(None, kept.dataType())
        return self._catalyst.alias(null, kept.name(), kept.exprId())

    def _processing(self, keys: Sequence[Expression], values: Sequence[Expression]) -> Callable[..., Any]:
        match self._node.argument("userFacingDataType"):
            case "pandas":
                _refuse_nulls_in(values, structs=False)
                # Spark makes a frame for a key from the rows of a larger one, where integers are of one size.
                exact = {at: "int64" if dtype.startswith("int") else dtype for at, dtype in self._exact(values).items()}
                narrow, key_of = workers.exact_frames(exact), workers.exact_key(list(self._exact(keys)))
                return workers.transformed(self._pickled(), self._widened_frame(), narrow, key_of)
            case "python_row":
                widen = workers.widened_row(self._name)
                return workers.transformed(self._pickled(), widen, workers.rows_without_last, tuple)
            case other:
                raise CannotCarry(f"its function takes records in a form that is not known here: {other}")

    def _exact(self, attributes: Sequence[Expression]) -> dict[int, str]:
        """For columns whose type in pandas changes with a null in them: their place, and their type without one."""
        types = _exact_types(self._spark)
        return {
            place: types[attribute.data_type]
            for place, attribute in enumerate(attributes)
            if attribute.data_type in types
        }

    def _widened_frame(self) -> workers.Widen:
        return workers.widened_frame(self._name, len(self._columns))

    def _widened_arrow(self) -> workers.Widen:
        return workers.widened_arrow(self._name, len(self._columns))

    def _command(self) -> bytes:
        return _command(self._catalyst, self._udf)

    def _pickled(self) -> workers.Pickled:
        return workers.Pickled(self._command())

    def _function(self, wrapper: Callable[..., Any], arguments: list[Any]) -> Any:
        wide = self._returned.add(self._name, self._case.dataType())
        return _function(self._catalyst, self._udf, wrapper, wide, arguments)

    # --- without records ---

    def _try_without_records(self) -> None:
        """Refuse a function that yields records, or fails, for a partition without records."""
        digest = sha256(self._command()).digest()
        if digest in _silent:
            return
        empty = self._spark.range(0, 1, 1, 1).where("id < 0")._jdf.queryExecution().analyzed()
        nothing = [self._null(attribute) for attribute in self._values(0)]
        child = self._catalyst.project(self._catalyst.seq(nothing), empty)
        plan = self._plan.withNewChildren(self._catalyst.seq([child]))
        try:
            count = self._catalyst.dataset(plan).count()
        except Exception as error:
            raise CannotCarry(f"its function fails for a partition without records ({root_cause(error)})") from error
        if count:
            raise CannotCarry("its function yields records for a partition without records")
        _silent.add(digest)


_EXACT = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64", "boolean": "bool"}

_kept: dict[bytes, str | None] = {}
"""What pickled functions keep between calls, by their digests. One run asks several times."""

_silent: set[bytes] = set()
"""Digests of pickled functions that yield nothing without records. One run asks several times."""


def _exact_types(spark: SparkSession) -> dict[str, str]:
    """The types that pandas gives to columns without nulls, by Spark's names for them; with a null they differ."""
    kept = spark.conf.get("spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype", "false") == "true"
    types = {"boolean": "bool"} if kept else dict(_EXACT)
    return types | {f"array<{name}>": f"{workers.LISTS_OF}{dtype}" for name, dtype in _EXACT.items()}


def _most(spark: SparkSession) -> int:
    """How many records an Arrow batch has at the most."""
    return int(str(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))


def _refuse_nulls_in(expressions: Iterable[Expression], *, structs: bool) -> None:
    """Refuse nested columns in which a null changes the type that pandas gives to whole numbers, of all cases.

    Columns of whole numbers, and of arrays of them, get their exact types back. `structs` become frames where they are
    arguments of a function of columns; elsewhere they are rows of Python's own numbers.
    """
    from pyspark.sql.types import ArrayType, StructType, _parse_datatype_json_string

    for each in expressions:
        kind = _parse_datatype_json_string(each.handle.dataType().json())
        inner: list[tuple[Any, bool]] = []
        match kind:
            case ArrayType():
                inner = [] if _is_whole(kind.elementType) else [(kind.elementType, kind.containsNull)]
            case StructType():
                inner = [(field.dataType, field.nullable or each.nullable) for field in kind.fields]
                inner = [pair for pair in inner if structs or not _is_whole(pair[0])]
        if any(_changes_with_null(*pair) for pair in inner):
            raise CannotCarry(f"a null of another case changes what its function sees in a column {each.data_type}")


def _is_whole(kind: Any) -> bool:
    from pyspark.sql.types import BooleanType, IntegralType

    return isinstance(kind, (IntegralType, BooleanType))


def _changes_with_null(kind: Any, nullable: bool) -> bool:
    from pyspark.sql.types import ArrayType, StructType

    match kind:
        case ArrayType():
            return _changes_with_null(kind.elementType, kind.containsNull)
        case StructType():
            return any(_changes_with_null(field.dataType, field.nullable) for field in kind.fields)
    return nullable and _is_whole(kind)


def refuse_what_is_kept(catalyst: Catalyst, plan: Node) -> None:
    """Refuse Python functions that keep something between calls, which cases in one query would share."""
    for node in plan.walk():
        for udf in (each for top in node.expressions for each in top.walk() if each.kind == "PythonUDF"):
            command = _command(catalyst, udf)
            digest = sha256(command).digest()
            if digest not in _kept:
                _kept[digest] = kept_by_pickled(command)
            if _kept[digest] is not None:
                raise CannotCarry(f"its function {udf.arguments['name']} {_kept[digest]}")


def _command(catalyst: Catalyst, udf: Expression) -> bytes:
    byte = catalyst.elsewhere("scala.reflect.ClassTag").Byte()
    return bytes(udf.handle.func().command().toArray(byte))


def _function(
    catalyst: Catalyst, udf: Expression, wrapper: Callable[..., Any], returned: Any, arguments: list[Any]
) -> Any:
    """The wrapper as a function of Spark's, with the environment, files and variables of the user's own."""
    from pyspark.sql.types import _parse_datatype_json_string

    own = udf.handle.func()
    function = catalyst.elsewhere("org.apache.spark.api.python.SimplePythonFunction")(
        bytearray(_by_value((wrapper, _parse_datatype_json_string(returned.json())))),
        own.envVars(),
        own.pythonIncludes(),
        own.pythonExec(),
        own.pythonVer(),
        own.broadcastVars(),
        own.accumulator(),
    )
    return catalyst.expressions.PythonUDF(
        udf.arguments["name"],
        function,
        returned,
        catalyst.seq(arguments),
        udf.arguments["evalType"],
        udf.handle.udfDeterministic(),
        catalyst.new_id(),
    )


def _by_value(command: Any) -> bytes:
    """Pickle with the code of the wrappers: firesteel need not be installed on the executors."""
    from pyspark import cloudpickle as untyped
    from pyspark.serializers import CloudPickleSerializer

    cloudpickle: Any = untyped
    for module in (workers, columns):
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(CloudPickleSerializer().dumps(command))  # type: ignore[no-untyped-call]
    finally:
        for module in (workers, columns):
            cloudpickle.unregister_pickle_by_value(module)


def _iterators() -> list[int]:
    """The kinds of functions that take the parts of a group one by one; PySpark 4.0 has none."""
    from pyspark.util import PythonEvalType

    names = ("SQL_GROUPED_MAP_PANDAS_ITER_UDF", "SQL_GROUPED_MAP_ARROW_ITER_UDF")
    return [int(getattr(PythonEvalType, name)) for name in names if hasattr(PythonEvalType, name)]


def _other_than(names: list[str], name: str) -> str:
    taken = {each.lower() for each in names}
    while name.lower() in taken:
        name += "_"
    return name


def _handles(expressions: Iterable[Expression]) -> list[Any]:
    return [expression.handle for expression in expressions]
