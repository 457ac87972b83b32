"""The plans of what Spark SQL runs: a listener in the JVM keeps every execution until the block ends.

Spark hands the execution itself to its listeners, so this also sees those that Python has no handle to: a `count`, a
write, a micro-batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from firesteel.spark.jvm import class_named, compiled, java_class, new
from firesteel.spark.plans.tree import Expression

_CLASS = "firesteel.Executions"
_BESIDE = "org.apache.spark.sql.execution.SparkPlan"
_SOURCE = """
package firesteel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;

public class Executions extends SparkListener {
    private final Map found = Collections.synchronizedMap(new LinkedHashMap());

    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof SparkListenerSQLExecutionEnd) {
            SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
            if (end.qe() != null) found.put(Long.valueOf(end.executionId()), end.qe());
        }
    }

    /** The execution of a number, or null. */
    public QueryExecution execution(long number) { return (QueryExecution) found.get(Long.valueOf(number)); }

    /** The physical plan of an execution, those below first: [id, class, ids of output, children, subqueries]. */
    public String physical(QueryExecution execution) {
        StringBuilder out = new StringBuilder();
        write(execution.executedPlan(), new int[] {0}, out);
        return out.toString();
    }

    private int write(SparkPlan plan, int[] written, StringBuilder out) {
        String children;
        if (plan instanceof AdaptiveSparkPlanExec)
            children = String.valueOf(write(((AdaptiveSparkPlanExec) plan).executedPlan(), written, out));
        else if (plan instanceof QueryStageExec)
            children = String.valueOf(write(((QueryStageExec) plan).plan(), written, out));
        else if (plan instanceof ReusedExchangeExec)
            children = String.valueOf(write(((ReusedExchangeExec) plan).child(), written, out));
        else if (plan instanceof InMemoryTableScanExec)
            children = String.valueOf(write(((InMemoryTableScanExec) plan).relation().cachedPlan(), written, out));
        else children = writeAll(plan.children().iterator(), written, out);
        String subqueries = writeAll(plan.subqueries().iterator(), written, out);
        if (written[0] > 0) out.append(",");
        out.append("[").append(plan.id()).append(",\\"").append(plan.getClass().getSimpleName()).append("\\",[");
        String between = "";
        for (scala.collection.Iterator each = plan.output().iterator(); each.hasNext();) {
            out.append(between).append(((Attribute) each.next()).exprId().id());
            between = ",";
        }
        out.append("],[").append(children).append("],[").append(subqueries).append("]]");
        return written[0]++;
    }

    private String writeAll(scala.collection.Iterator each, int[] written, StringBuilder out) {
        StringBuilder places = new StringBuilder();
        while (each.hasNext()) {
            if (places.length() > 0) places.append(",");
            places.append(write((SparkPlan) each.next(), written, out));
        }
        return places.toString();
    }
}
"""

_classes: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The compiled class for each JVM, by PySpark's gateway to it."""


@dataclass(frozen=True, eq=False)
class Physical:
    """An operator of a physical plan that ran."""

    id: int
    """Spark's number for it."""
    kind: str
    """The name of its class, such as `ShuffleExchangeExec`."""
    output: frozenset[int]
    """The ids of its columns."""
    children: tuple[Physical, ...]
    subqueries: tuple[Physical, ...]

    def walk(self) -> Iterator[Physical]:
        """This operator and all below it, with subqueries; those below come first."""
        waiting: list[tuple[Physical, bool]] = [(self, False)]
        while waiting:
            node, is_done = waiting.pop()
            if is_done:
                yield node
            else:
                waiting.append((node, True))
                waiting.extend((child, False) for child in reversed((*node.children, *node.subqueries)))


class Executions:
    """The executions of an application, from `attach` to `detach`."""

    def __init__(self, context: Any) -> None:
        self._context = context
        gateway = context._gateway
        if gateway not in _classes:
            loader = class_named(gateway.jvm, _BESIDE).getClassLoader()
            _classes[gateway] = compiled(gateway.jvm, _SOURCE, _CLASS, loader)
        self._listener = new(gateway, _classes[gateway])

    def attach(self) -> None:
        """Listen from now on."""
        self._context._jsc.sc().addSparkListener(self._listener)

    def detach(self) -> None:
        """Listen no more; what was kept stays, as long as the application runs."""
        with suppress(Exception):  # the application may have ended
            self._context._jsc.sc().removeSparkListener(self._listener)

    def execution(self, number: int) -> Any:
        """An execution in the JVM, by Spark's number; None where it did not end within the block."""
        return self._listener.execution(number)

    def physical(self, execution: Any) -> Physical:
        """The physical plan that an execution ended with."""
        made: list[Physical] = []
        for id_, kind, output, children, subqueries in json.loads(f"[{self._listener.physical(execution)}]"):
            below = tuple(made[place] for place in children)
            made.append(Physical(id_, kind, frozenset(output), below, tuple(made[place] for place in subqueries)))
        return made[-1]


def function_in(spark: Any, udf: Expression) -> Any:
    """The function of a PythonUDF, unpickled; None where it cannot be, or is too large for the plan."""
    from pyspark.serializers import CloudPickleSerializer

    byte = java_class(spark.sparkContext._gateway, "scala.reflect.ClassTag").Byte()
    try:
        command = CloudPickleSerializer().loads(bytes(udf.handle.func().command().toArray(byte)))  # type: ignore[no-untyped-call]
    except Exception:  # whatever unpickling somebody's function raises
        return None
    return command[0] if isinstance(command, tuple) and callable(command[0]) else None
