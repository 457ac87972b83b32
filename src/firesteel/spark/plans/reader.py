"""Reads a plan of Spark's into a tree, in a few calls to the JVM.

A class in Java walks the plan and writes it down as JSON. It is compiled once for each JVM, against its Spark.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.spark.jvm import class_named, compiled, java_class, new
from firesteel.spark.plans.tree import Argument, Expression, Handles, Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CLASS = "firesteel.PlanReader"
_TREE = "org.apache.spark.sql.catalyst.trees.TreeNode"
# One entry for each node and expression, those below it first; an entry names others by their places in the list.
# Equal attributes share an entry, and so does a subtree that stands in several places.
_SOURCE = """
package firesteel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.unsafe.types.UTF8String;

public class PlanReader {
    public Reading read(Object root) {
        Reading reading = new Reading();
        reading.place((LogicalPlan) root);
        return reading;
    }

    /** Several plans at once. What they share is written once. */
    public Reading readAll(java.util.List roots) {
        Reading reading = new Reading();
        for (int index = 0; index < roots.size(); index++) {
            Object root = roots.get(index);
            if (root instanceof Dataset) root = ((Dataset) root).queryExecution().analyzed();
            reading.places.append(index == 0 ? "" : ",").append(reading.place((LogicalPlan) root));
        }
        return reading;
    }

    public static class Reading {
        private final StringBuilder text = new StringBuilder();
        private final StringBuilder places = new StringBuilder();
        private final ArrayList found = new ArrayList();
        private final Map attributes = new HashMap();
        private final Map others = new IdentityHashMap();

        /** The entries, from some character on; a call hands over so much at most. */
        public String text(int from, int most) {
            return text.substring(from, Math.min(from + most, text.length()));
        }

        /** The places of several plans that were read at once. */
        public String roots() { return places.toString(); }

        /** What the entry in a place describes. */
        public Object handle(int place) { return found.get(place); }

        private int place(TreeNode tree) {
            Map known = tree instanceof AttributeReference ? attributes : others;
            Integer at = (Integer) known.get(tree);
            if (at == null) {
                StringBuilder entry = new StringBuilder();
                if (tree instanceof LogicalPlan) writePlan((LogicalPlan) tree, entry);
                else writeExpression((Expression) tree, entry);
                at = Integer.valueOf(found.size());
                found.add(tree);
                known.put(tree, at);
                if (at.intValue() > 0) text.append(",");
                text.append(entry);
            }
            return at.intValue();
        }

        private void writePlan(LogicalPlan plan, StringBuilder out) {
            out.append("[").append(quoted(kind(plan))).append(",").append(plan.isStreaming()).append(",");
            writePlaces(plan.output(), out);
            out.append(",");
            writePlaces(plan.children(), out);
            out.append(",");
            writeArguments(plan, out);
            out.append("]");
        }

        private void writeExpression(Expression expression, StringBuilder out) {
            out.append("[").append(quoted(kind(expression))).append(",");
            writeName(expression, out);
            out.append(",");
            writeType(expression, out);
            out.append(",");
            writePlaces(expression.children(), out);
            out.append(",");
            if (expression instanceof AttributeReference) out.append("{}");  // all that matters has been said
            else writeArguments(expression, out);
            out.append("]");
        }

        private void writeName(Expression expression, StringBuilder out) {
            String written = "null,null,{}";
            if (expression instanceof NamedExpression) {
                NamedExpression named = (NamedExpression) expression;
                try {
                    String id = String.valueOf(named.exprId().id());
                    written = id + "," + quoted(named.name()) + "," + ascii(named.metadata().json());
                } catch (Exception unresolved) {
                    written = "null,null,{}";
                }
            }
            out.append(written);
        }

        private void writeType(Expression expression, StringBuilder out) {
            String type = "null";
            try {
                type = quoted(expression.dataType().catalogString());
            } catch (Exception unresolved) {
                type = "null";
            }
            out.append(type).append(",").append(isNullable(expression));
        }

        private static boolean isNullable(Expression expression) {
            try {
                return expression.nullable();
            } catch (Exception unresolved) {
                return true;
            } catch (AssertionError undefined) {  // the subquery of an IN asserts that nobody asks
                return true;
            }
        }

        private void writePlaces(scala.collection.immutable.Seq trees, StringBuilder out) {
            out.append("[");
            String between = "";
            for (scala.collection.Iterator each = trees.iterator(); each.hasNext();) {
                out.append(between).append(place((TreeNode) each.next()));
                between = ",";
            }
            out.append("]");
        }

        private void writeArguments(TreeNode tree, StringBuilder out) {
            out.append("{");
            String between = "";
            for (int index = 0; index < tree.productArity(); index++) {
                Object value = tree.productElement(index);
                if (isKnown(value)) {
                    out.append(between).append(quoted(tree.productElementName(index))).append(":");
                    writeValue(value, out);
                    between = ",";
                }
            }
            out.append("}");
        }

        /** Data, a tree, an object of which there is one, or several of these; all else is left out. */
        private static boolean isKnown(Object value) {
            if (value instanceof scala.Option) {
                scala.Option option = (scala.Option) value;
                return option.isEmpty() || isKnown(option.get());
            }
            if (value instanceof scala.collection.immutable.Seq) {
                scala.collection.Iterator each = ((scala.collection.immutable.Seq) value).iterator();
                while (each.hasNext()) if (!isKnown(each.next())) return false;
                return true;
            }
            return value == null || value instanceof LogicalPlan || value instanceof Expression || isPlain(value)
                || isText(value) || isOnlyOne(value);
        }

        private static boolean isPlain(Object value) {
            return value instanceof Boolean || value instanceof Byte || value instanceof Short
                || value instanceof Integer || value instanceof Long;
        }

        private static boolean isText(Object value) {
            return value instanceof String || value instanceof UTF8String || value instanceof java.util.UUID
                || value instanceof Enum || value instanceof scala.Enumeration.Value;
        }

        private static boolean isOnlyOne(Object value) {
            return value.getClass().getName().endsWith("$");
        }

        private void writeValue(Object value, StringBuilder out) {
            if (value instanceof scala.Option) {
                scala.Option option = (scala.Option) value;
                writeValue(option.isEmpty() ? null : option.get(), out);
            } else if (value instanceof scala.collection.immutable.Seq) {
                writeValues(((scala.collection.immutable.Seq) value).iterator(), out);
            } else if (value instanceof TreeNode) {
                out.append("{\\"\\":").append(place((TreeNode) value)).append("}");
            } else if (value == null || isPlain(value)) {
                out.append(value);
            } else {
                out.append(quoted(isText(value) ? value.toString() : kind(value)));
            }
        }

        private void writeValues(scala.collection.Iterator each, StringBuilder out) {
            out.append("[");
            String between = "";
            while (each.hasNext()) {
                out.append(between);
                writeValue(each.next(), out);
                between = ",";
            }
            out.append("]");
        }

        private static String kind(Object thing) {
            String name = thing.getClass().getSimpleName();
            return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
        }

        private static String quoted(String text) {
            StringBuilder out = new StringBuilder("\\"");
            for (int index = 0; index < text.length(); index++) {
                char c = text.charAt(index);
                if (c == '"' || c == '\\\\') out.append('\\\\').append(c);
                else if (c < ' ') out.append(escape(c));
                else out.append(c);
            }
            return ascii(out.append("\\"").toString());
        }

        /** JSON with all its characters in ASCII, which comes through every encoding. */
        private static String ascii(String json) {
            StringBuilder out = new StringBuilder();
            for (int index = 0; index < json.length(); index++) {
                char c = json.charAt(index);
                if (c > '~') out.append(escape(c));
                else out.append(c);
            }
            return out.toString();
        }

        private static String escape(char c) {
            return "\\\\u" + Integer.toHexString(0x10000 | c).substring(1);
        }
    }
}
"""

_PIECE = 8_000

_readers: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The compiled class for each JVM, by PySpark's gateway to it."""


def analysed(frame: DataFrame) -> Node:
    """The plan of a frame after analysis, which is what the user wrote with every name resolved."""
    return read(frame.sparkSession, frame._jdf.queryExecution().analyzed())


def read(spark: SparkSession, plan: Any) -> Node:
    """The tree of a logical plan."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    try:
        reading = _reader(spark).read(plan)
        text = _text(reading)
    except Py4JError as error:
        raise SubjectFailure(f"firesteel cannot read a plan of this version of Spark: {root_cause(error)}") from error
    root: Node = _trees(json.loads(f"[{text}]"), Handles(reading))[-1]
    return root


def read_all(spark: SparkSession, plans: Sequence[Any]) -> list[Node]:
    """The trees of several logical plans, or of the analysed plans of DataFrames in the JVM.

    Nodes that the plans share are the same objects in the trees.
    """
    from py4j.protocol import Py4JError

    gateway: Any = spark.sparkContext._gateway
    try:
        roots = java_class(gateway, "java.util.ArrayList")()
        for plan in plans:
            roots.add(plan)
        reading = _reader(spark).readAll(roots)
        places, text = json.loads(f"[{reading.roots()}]"), _text(reading)
    except Py4JError as error:
        raise SubjectFailure(f"firesteel cannot read a plan of this version of Spark: {root_cause(error)}") from error
    made = _trees(json.loads(f"[{text}]"), Handles(reading))
    return [made[place] for place in places]


def _text(reading: Any) -> str:
    """What was written, in pieces that py4j sends at once: for a larger one it waits 40 ms, until TCP asks for more."""
    pieces = [reading.text(0, _PIECE)]
    while len(pieces[-1]) == _PIECE:
        pieces.append(reading.text(_PIECE * len(pieces), _PIECE))
    return "".join(pieces)


def _reader(spark: SparkSession) -> Any:
    gateway: Any = spark.sparkContext._gateway
    if gateway not in _readers:
        loader = class_named(gateway.jvm, _TREE).getClassLoader()
        _readers[gateway] = new(gateway, compiled(gateway.jvm, _SOURCE, _CLASS, loader))
    return _readers[gateway]


def _trees(entries: list[list[Any]], handles: Handles) -> list[Any]:
    made: list[Any] = []
    for place, (kind, *rest, arguments) in enumerate(entries):
        given = {name: _argument(value, made) for name, value in arguments.items()}
        *facts, children = rest
        below = tuple(made[child] for child in children)
        match facts:
            case [is_streaming, output]:
                shown = tuple(made[attribute] for attribute in output)
                made.append(Node(kind, below, shown, given, is_streaming, handles, place))
            case [id_, name, metadata, data_type, nullable]:
                made.append(Expression(kind, below, id_, name, data_type, nullable, metadata, given, handles, place))
            case _:
                raise AssertionError(facts)
    return made


def _argument(value: Any, made: list[Any]) -> Argument:
    match value:
        case {"": place}:
            tree: Node | Expression = made[place]
            return tree
        case list():
            return tuple(_argument(each, made) for each in value)
        case _:
            plain: Argument = value
            return plain
