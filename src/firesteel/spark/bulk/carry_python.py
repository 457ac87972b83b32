"""Carries the hidden column past nodes with Python functions, which neither see nor lose it.

The node is made again with a wider function, which `carry_workers` wraps around the user's own, and with the column
as a further key, so that groups, state and timers of cases stay apart.

mapInPandas and mapInArrow have no groups: a partition mixes the records of cases, and so do the frames made of it. The
wrapper takes a partition apart, and calls the function once for every case that has records in it, with frames of the
case's own. Alone it is called for partitions without records as well; so it is tried with none beforehand, and refused
if it yields any then.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk import carry_workers as workers
from firesteel.spark.failures import CannotCarry, root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES = frozenset(
    {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark",
     "MapInPandas", "MapInArrow"}
)  # fmt: skip
"""The nodes that can be carried through here."""

STATEFUL = frozenset({"FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"})
"""Those whose functions are told the watermark."""


COLUMN_FUNCTIONS: dict[int, tuple[Callable[..., Any], workers.Columns]] = {
    200: (workers.of_columns, workers.Series), 204: (workers.of_parts, workers.Series),
    250: (workers.of_columns, workers.Arrays), 251: (workers.of_parts, workers.Arrays),
}  # fmt: skip
"""Functions of whole columns (pandas series, Arrow arrays, iterators of these) by PySpark's numbers for them."""


def column_function(spark: SparkSession, udf: Any, arguments: list[Any], case: Any) -> Any:
    """A function of whole columns, called for every case by itself: the column is its last argument."""
    types = [_exact_types(spark).get(each.dataType().simpleString()) for each in arguments]
    named = [each.key() if each.nodeName() == "NamedArgumentExpression" else None for each in arguments]
    wrap, kind = COLUMN_FUNCTIONS[udf.evalType()]
    wrapper = wrap(kind, workers.Pickled(_command(spark, udf)), workers.Arguments(types, named))
    return _function(spark, udf, wrapper, udf.dataType(), [*arguments, case])


def carried(spark: SparkSession, plan: Any, made: Any, case: Any) -> tuple[Any, Any]:
    """A node made again over a child that has the column `case`, and the column's attribute in its output."""
    node = _Node(spark, plan, made, case)
    match plan.nodeName():
        case "FlatMapGroupsInPandas" | "FlatMapGroupsInArrow":
            return node.grouped(), node.field
        case "FlatMapGroupsInPandasWithState":
            return node.with_state(), node.field
        case "TransformWithStateInPySpark":
            return node.transformed(), node.field
        case "MapInPandas" | "MapInArrow":
            return node.mapped(), node.field
        case name:
            raise AssertionError(name)


class _Node:
    """One node with a Python function, on its way to being made again."""

    def __init__(self, spark: SparkSession, plan: Any, made: Any, case: Any) -> None:
        jvm: Any = spark._jvm
        self._spark, self._plan, self._made, self._case = spark, plan, made, case
        self._logical = jvm.org.apache.spark.sql.catalyst.plans.logical
        self._expressions = jvm.org.apache.spark.sql.catalyst.expressions
        self._seq: Callable[[list[Any]], Any] = jvm.org.apache.spark.api.python.PythonUtils.toSeq
        self._jvm = jvm
        self._udf = plan.functionExpr()
        # The user's function may well make a column of the same name.
        self._columns: list[str] = list(self._udf.dataType().fieldNames())
        self._name = _other_than(self._columns, case.name())
        self.field = case.newInstance().withName(self._name).withNullability(True)

    # --- nodes ---

    def grouped(self) -> Any:
        keys = _items(self._plan.groupingAttributes())
        values = self._values(len(keys))
        evaluation = self._udf.evalType()
        wrap = workers.grouped_parts if evaluation in _iterators() else workers.grouped
        arrow = self._plan.nodeName() == "FlatMapGroupsInArrow"
        widen = self._widened_arrow() if arrow else self._widened_frame()
        function = self._function(wrap(self._pickled(), widen), values)
        return getattr(self._logical, self._plan.nodeName())(
            self._seq([*keys, self._case]),
            function,
            self._plan.output().appended(self.field),
            self._projected([*keys, self._case, *values]),
        )

    def with_state(self) -> Any:
        keys = _items(self._plan.groupingAttributes())
        if not keys:
            raise CannotCarry("it keeps state without a key")
        values = [*self._values(0), self._case]  # unlike in other nodes, no keys come before them
        widen = workers.widened_frame(self._name, len(self._columns), named=True)
        function = self._function(workers.with_state(self._pickled(), widen), values)
        return self._logical.FlatMapGroupsInPandasWithState(
            function,
            self._seq([*keys, self._case]),
            self._plan.outputAttrs().appended(self.field),
            self._plan.stateType(),
            self._plan.outputMode(),
            self._plan.timeout(),
            self._projected(values),
        )

    def transformed(self) -> Any:
        if self._plan.hasInitialState():
            raise CannotCarry("its state starts from a table, which has no cases")
        number = self._plan.groupingAttributesLen()
        if not number:
            raise CannotCarry("it keeps state without a key")
        keys = _items(self._plan.child().output())[:number]
        values = self._values(number)
        # The column is among the values, too: Spark names columns by their places here, which must not change.
        child = self._projected([*keys, self._case, *values, self._case])
        function = self._function(self._processing(keys, values), [*values, self._case])
        return self._logical.TransformWithStateInPySpark(
            function,
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
        if self._plan.isBarrier() or self._plan.profile().isDefined():
            raise CannotCarry("it maps with a barrier or with resources of its own")
        self._try_without_records()
        values = self._values(0)
        most = int(str(self._spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))
        if self._plan.nodeName() == "MapInArrow":
            wrapper = workers.mapped(self._pickled(), self._widened_arrow(), workers.batches_by_case(most))
        else:
            wrapper = workers.mapped(
                self._pickled(), self._widened_frame(), workers.frames_by_case(most, self._exact(values))
            )
        function = self._function(wrapper, [*values, self._case])
        return getattr(self._logical, self._plan.nodeName())(
            function,
            self._plan.output().appended(self.field),
            self._projected([*values, self._case]),
            False,
            self._plan.profile(),
        )

    # --- what they are made of ---

    def _values(self, keys: int) -> list[Any]:
        """What the function gets to see: everything behind the keys, without the column."""
        return _items(self._plan.children().apply(0).output())[keys:]

    def _projected(self, expressions: list[Any]) -> Any:
        return self._logical.Project(self._seq(expressions), self._made)

    def _null(self, attribute: Any) -> Any:
        """A null in place of an attribute."""
        null, nothing = self._expressions.Literal(None, attribute.dataType()), self._seq([])
        none = self._jvm.scala.Option.empty()
        return self._expressions.Alias(null, attribute.name(), attribute.exprId(), nothing, none, nothing)

    def _processing(self, keys: list[Any], values: list[Any]) -> Callable[..., Any]:
        if self._plan.userFacingDataType().toString() == "pandas":
            # Spark makes a frame for a key from the rows of a larger one, where integers are of one size.
            exact = {at: "int64" if dtype.startswith("int") else dtype for at, dtype in self._exact(values).items()}
            narrow, key_of = workers.exact_without_last(exact), workers.exact_key(list(self._exact(keys)))
            return workers.transformed(self._pickled(), self._widened_frame(), narrow, key_of)
        return workers.transformed(self._pickled(), workers.widened_row(self._name), workers.without_last, tuple)

    def _exact(self, attributes: list[Any]) -> dict[int, str]:
        """The places of columns that pandas gives another type where there are nulls, and their type where not."""
        types = _exact_types(self._spark)
        simple = [each.dataType().simpleString() for each in attributes]
        return {index: types[name] for index, name in enumerate(simple) if name in types}

    def _widened_frame(self) -> workers.Widen:
        return workers.widened_frame(self._name, len(self._columns))

    def _widened_arrow(self) -> workers.Widen:
        return workers.widened_arrow(self._name, len(self._columns))

    def _command(self) -> bytes:
        return _command(self._spark, self._udf)

    def _pickled(self) -> workers.Pickled:
        return workers.Pickled(self._command())

    def _function(self, wrapper: Callable[..., Any], arguments: list[Any]) -> Any:
        wide = self._udf.dataType().add(self._name, self._case.dataType())
        return _function(self._spark, self._udf, wrapper, wide, arguments)

    # --- without records ---

    def _try_without_records(self) -> None:
        """Refuse a function that yields records, or fails, where there are none: Spark calls it for those, too."""
        digest = sha256(self._command()).digest()
        if digest in _silent:
            return
        empty = self._spark.range(0, 1, 1, 1).where("id < 0")._jdf.queryExecution().analyzed()
        nothing = [self._null(attribute) for attribute in self._values(0)]
        plan = self._plan.withNewChildren(self._seq([self._logical.Project(self._seq(nothing), empty)]))
        dataset = self._jvm.org.apache.spark.sql.classic.Dataset
        try:
            count = dataset.ofRows(self._spark._jsparkSession, plan).count()
        except Exception as error:
            raise CannotCarry(f"its function fails for a partition without records ({root_cause(error)})") from error
        if count:
            raise CannotCarry("its function yields records for a partition without records")
        _silent.add(digest)


_EXACT = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64", "boolean": "bool"}

_silent: set[bytes] = set()
"""Digests of pickled functions that yield nothing for nothing: one run asks several times."""


def _exact_types(spark: SparkSession) -> dict[str, str]:
    """The types that pandas gives a column without nulls, by Spark's name; with a null it gives another."""
    kept = spark.conf.get("spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype", "false") == "true"
    types = {"boolean": "bool"} if kept else dict(_EXACT)
    return types | {f"array<{name}>": f"{workers.LISTS_OF}{dtype}" for name, dtype in _EXACT.items()}


def _command(spark: SparkSession, udf: Any) -> bytes:
    jvm: Any = spark._jvm
    return bytes(udf.func().command().toArray(jvm.scala.reflect.ClassTag.Byte()))


def _function(spark: SparkSession, udf: Any, wrapper: Callable[..., Any], returned: Any, arguments: list[Any]) -> Any:
    """The wrapper as a function of Spark's, with all that comes along with the user's own."""
    from pyspark.sql.types import _parse_datatype_json_string

    jvm: Any = spark._jvm
    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    own = udf.func()
    function = jvm.org.apache.spark.api.python.SimplePythonFunction(
        bytearray(_by_value((wrapper, _parse_datatype_json_string(returned.json())))),
        own.envVars(),
        own.pythonIncludes(),
        own.pythonExec(),
        own.pythonVer(),
        own.broadcastVars(),
        own.accumulator(),
    )
    return expressions.PythonUDF(
        udf.name(),
        function,
        returned,
        jvm.org.apache.spark.api.python.PythonUtils.toSeq(arguments),
        udf.evalType(),
        udf.udfDeterministic(),
        expressions.NamedExpression.newExprId(),
    )


def _by_value(command: Any) -> bytes:
    """Pickle with the code of the wrappers: firesteel need not be installed on the executors."""
    from pyspark import cloudpickle as untyped
    from pyspark.serializers import CloudPickleSerializer

    cloudpickle: Any = untyped
    cloudpickle.register_pickle_by_value(workers)
    try:
        return bytes(CloudPickleSerializer().dumps(command))  # type: ignore[no-untyped-call]
    finally:
        cloudpickle.unregister_pickle_by_value(workers)


def _iterators() -> list[int]:
    """The kinds of function that take the parts of a group one by one; PySpark 4.0 has none."""
    from pyspark.util import PythonEvalType

    names = ("SQL_GROUPED_MAP_PANDAS_ITER_UDF", "SQL_GROUPED_MAP_ARROW_ITER_UDF")
    return [int(getattr(PythonEvalType, name)) for name in names if hasattr(PythonEvalType, name)]


def _other_than(names: list[str], name: str) -> str:
    taken = {each.lower() for each in names}
    while name.lower() in taken:
        name += "_"
    return name


def _items(seq: Any) -> list[Any]:
    return [seq.apply(index) for index in range(seq.size())]
