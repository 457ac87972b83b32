"""Carries the hidden column past nodes with Python functions, which neither see nor lose it.

The node is made again with a wider function, which `firesteel.spark.carry_workers` wraps around the user's own, and
with the column as a further key, so that groups, state and timers of cases stay apart.

mapInPandas and mapInArrow have no groups. A partition mixes the records of cases, and so do the frames made of it (in
pandas, a null of one case would turn the integers of all into floats). So they are carried as groups, of one partition
and one case each: the function is called once for every partition of a case that has records, with frames of their
own, in the order of the partition. Alone it is called for partitions without records as well; it is tried with
none beforehand, and refused if it yields any then.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from firesteel.spark import carry_workers as workers
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
        function = self._function(wrap(self._pickled(), widen), evaluation, values)
        return self._grouped(self._plan.nodeName(), function, keys, values, keys)

    def with_state(self) -> Any:
        keys = _items(self._plan.groupingAttributes())
        values = self._values(len(keys))
        widen = workers.widened_frame(self._name, len(self._columns), named=True)
        function = self._function(workers.with_state(self._pickled(), widen), self._udf.evalType(), values)
        return self._logical.FlatMapGroupsInPandasWithState(
            function,
            self._seq([*keys, self._case]),
            self._plan.outputAttrs().appended(self.field),
            self._plan.stateType(),
            self._plan.outputMode(),
            self._plan.timeout(),
            self._projected([*keys, self._case, *values]),
        )

    def transformed(self) -> Any:
        if self._plan.hasInitialState():
            raise CannotCarry("its state starts from a table, which has no cases")
        number = self._plan.groupingAttributesLen()
        keys = _items(self._plan.child().output())[:number]
        values = self._values(number)
        # The column is among the values, too: Spark names columns by their places here, which must not change.
        child = self._projected([*keys, self._case, *values, self._case])
        function = self._function(self._processing(keys, values), self._udf.evalType(), [*values, self._case])
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
        arrow = self._plan.nodeName() == "MapInArrow"
        evaluation = _iterator(arrow=arrow)
        self._try_without_records()
        values = self._values(0)
        # Only the order of columns counts in mapInArrow, so that they are given their names.
        widen = workers.widened_arrow(self._name, self._columns) if arrow else self._widened_frame()
        function = self._function(workers.mapped(self._pickled(), widen), evaluation, values)
        partition = self._alias(self._expressions.SparkPartitionID(), "__partition")
        kind = "FlatMapGroupsInArrow" if arrow else "FlatMapGroupsInPandas"
        return self._grouped(kind, function, [partition.toAttribute()], values, [partition])

    def _grouped(self, kind: str, function: Any, keys: list[Any], values: list[Any], projected: list[Any]) -> Any:
        return getattr(self._logical, kind)(
            self._seq([*keys, self._case]),
            function,
            self._plan.output().appended(self.field),
            self._projected([*projected, self._case, *values]),
        )

    # --- what they are made of ---

    def _values(self, keys: int) -> list[Any]:
        """What the function gets to see: everything behind the keys, without the column."""
        return _items(self._plan.children().apply(0).output())[keys:]

    def _projected(self, expressions: list[Any]) -> Any:
        return self._logical.Project(self._seq(expressions), self._made)

    def _alias(self, expression: Any, name: str, at: Any = None) -> Any:
        at = self._expressions.NamedExpression.newExprId() if at is None else at
        nothing = self._seq([])
        return self._expressions.Alias(expression, name, at, nothing, self._jvm.scala.Option.empty(), nothing)

    def _processing(self, keys: list[Any], values: list[Any]) -> Callable[..., Any]:
        if self._plan.userFacingDataType().toString() == "Pandas":
            return workers.transformed(
                self._pickled(),
                self._widened_frame(),
                workers.frame_without_last(_integers(values)),
                workers.whole_key(_integers(keys)),
            )
        return workers.transformed(self._pickled(), workers.widened_row(self._name), workers.without_last, tuple)

    def _widened_frame(self) -> workers.Widen:
        return workers.widened_frame(self._name, len(self._columns))

    def _widened_arrow(self) -> workers.Widen:
        return workers.widened_arrow(self._name, len(self._columns))

    def _command(self) -> bytes:
        return bytes(self._udf.func().command().toArray(self._jvm.scala.reflect.ClassTag.Byte()))

    def _pickled(self) -> workers.Pickled:
        return workers.Pickled(self._command())

    def _function(self, wrapper: Callable[..., Any], evaluation: int, arguments: list[Any]) -> Any:
        """The wrapper as a function of Spark's, with all that comes along with the user's own."""
        from pyspark.sql.types import StructType

        wide = self._udf.dataType().add(self._name, self._case.dataType())
        command = _by_value((wrapper, StructType.fromJson(json.loads(wide.json()))))
        own = self._udf.func()
        function = self._jvm.org.apache.spark.api.python.SimplePythonFunction(
            bytearray(command),
            own.envVars(),
            own.pythonIncludes(),
            own.pythonExec(),
            own.pythonVer(),
            own.broadcastVars(),
            own.accumulator(),
        )
        return self._expressions.PythonUDF(
            self._udf.name(),
            function,
            wide,
            self._seq(arguments),
            evaluation,
            self._udf.udfDeterministic(),
            self._expressions.NamedExpression.newExprId(),
        )

    # --- without records ---

    def _try_without_records(self) -> None:
        """Refuse a function that yields records, or fails, where there are none: Spark calls it for those, too."""
        digest = sha256(self._command()).digest()
        if digest in _silent:
            return
        empty = self._spark.range(0, 1, 1, 1).where("id < 0")._jdf.queryExecution().analyzed()
        nothing = [
            self._alias(self._expressions.Literal(None, each.dataType()), each.name(), each.exprId())
            for each in self._values(0)
        ]
        plan = self._plan.withNewChildren(self._seq([self._logical.Project(self._seq(nothing), empty)]))
        dataset = self._jvm.org.apache.spark.sql.classic.Dataset
        try:
            count = dataset.ofRows(self._spark._jsparkSession, plan).count()
        except Exception as error:
            raise CannotCarry(f"its function fails for a partition without records ({root_cause(error)})") from error
        if count:
            raise CannotCarry("its function yields records for a partition without records")
        _silent.add(digest)


_silent: set[bytes] = set()
"""Digests of pickled functions that yield nothing for nothing: one run asks several times."""


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
    return [kind for kind in (_iterator(arrow=True, needed=False), _iterator(arrow=False, needed=False)) if kind]


def _iterator(*, arrow: bool, needed: bool = True) -> int:
    from pyspark.util import PythonEvalType

    kind = int(getattr(PythonEvalType, f"SQL_GROUPED_MAP_{'ARROW' if arrow else 'PANDAS'}_ITER_UDF", 0))
    if needed and not kind:
        raise CannotCarry("this version of PySpark does not hand groups to a function in parts")
    return kind


def _integers(attributes: list[Any]) -> list[int]:
    """The places of integers of any size."""
    sizes = ("tinyint", "smallint", "int", "bigint")
    return [index for index, each in enumerate(attributes) if each.dataType().simpleString() in sizes]


def _other_than(names: list[str], name: str) -> str:
    taken = {each.lower() for each in names}
    while name.lower() in taken:
        name += "_"
    return name


def _items(seq: Any) -> list[Any]:
    return [seq.apply(index) for index in range(seq.size())]
