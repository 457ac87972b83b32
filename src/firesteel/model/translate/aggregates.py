"""The functions of Spark SQL that go over several rows: aggregates and window functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.translate.sql import LONG, NULL, Rows, literal, refused, sorted_rows

ROW = e.Bound("row")
_CHECK = (e.Constant(LONG[0]), e.Constant(LONG[1]))
_FREE = (NULL, NULL)


def _at(whole: e.Expression, place: int) -> e.Expression:
    return e.Index(whole, e.Constant(place))


def _is_null(value: e.Expression) -> e.Expression:
    return e.Binary("=", value, NULL)


def _checked(tree: Any, value: e.Expression) -> e.Expression:
    limits = _FREE if tree.data_type in ("double", "float") else _CHECK
    return e.Apply("within", (value, *limits))


def _function(tree: Any) -> Any:
    """The aggregate function; refused where it is one of distinct values, or of some rows only."""
    function = tree.children[0]
    if tree.arguments.get("isDistinct") is True or tree.arguments.get("filter") is not None:
        raise refused("an aggregate of distinct values, or with a filter")
    if function.kind not in ("Count", "Sum", "Min", "Max", "Average", "CollectList"):
        raise refused(f"the aggregate {function.kind}")
    if function.kind == "Average" and function.data_type != "double":
        raise refused(f"an average of {function.data_type}")
    if function.kind == "Sum" and function.data_type not in ("bigint", "double"):
        raise refused(f"a sum of {function.data_type}")
    return function


def over(function: Any, values: e.Expression) -> e.Expression:
    """An aggregate of a list of values, of which none is null."""
    some = e.Apply("size", (values,))
    match function.kind:
        case "Count":
            return some
        case "CollectList":
            return values
        case "Sum":
            made = _checked(function, e.Apply("total", (values,)))
        case "Average":
            made = e.Apply("divide", (e.Apply("total", (values,)), some))
        case _:
            made = e.Apply(function.kind.lower(), (values,))
    return e.Conditional(e.Binary("=", some, e.Constant(0)), NULL, made)


class Aggregates:
    """The aggregates of a grouping. What is kept of a group is a tuple with a place for each: a partial result."""

    def __init__(self, rows: Rows, outputs: Sequence[Any]) -> None:
        self.rows, self.outputs = rows, tuple(outputs)
        self.functions: list[Any] = []
        self.trees: list[Any] = []
        for output in self.outputs:
            for each in output.walk():
                if each.kind == "AggregateExpression" and each not in self.trees:
                    self.trees.append(each)
                    self.functions.append(_function(each))

    def _input(self, function: Any) -> e.Expression:
        """The value of a row that an aggregate takes; `count` of several columns takes none that is null."""
        if function.kind == "Count":
            if len(function.children) != 1:
                raise refused("count of several columns")
            return self.rows.value(function.children[0])
        return self.rows.value(function.children[0])

    def empty(self) -> e.Expression:
        """What is kept before the first row."""
        firsts: dict[str, e.Expression] = {"Count": e.Constant(0), "CollectList": e.ListOf(())}
        firsts["Average"] = e.TupleOf((e.Constant(0.0), e.Constant(0)))
        return e.TupleOf(tuple(firsts.get(function.kind, NULL) for function in self.functions))

    def created(self) -> e.Expression:
        return e.Let("acc", self.empty(), self.merged())

    def merged(self) -> e.Expression:
        """What is kept after one more `row`."""
        return e.TupleOf(
            tuple(self._more(function, _at(e.Bound("acc"), place)) for place, function in enumerate(self.functions))
        )

    def _more(self, function: Any, acc: e.Expression) -> e.Expression:
        value = self._input(function)
        name = self.rows.fresh()
        x = e.Bound(name)
        match function.kind:
            case "Count":
                more: e.Expression = e.Binary("+", acc, e.Constant(1))
            case "CollectList":
                more = e.Apply("append", (acc, x))
            case "Average":
                added = e.Binary("+", _at(acc, 0), e.Apply("tofloat", (x,)))
                more = e.TupleOf((added, e.Binary("+", _at(acc, 1), e.Constant(1))))
            case _:
                more = self._joined(function, acc, x)
        return e.Let(name, value, e.Conditional(_is_null(x), acc, more))

    def _joined(self, function: Any, a: e.Expression, b: e.Expression) -> e.Expression:
        """Two values of which the second is not null, as one."""
        both = (
            _checked(function, e.Binary("+", a, b))
            if function.kind == "Sum"
            else e.Apply(function.kind.lower(), (a, b))
        )
        return e.Conditional(_is_null(a), b, both)

    def combined(self) -> e.Expression:
        """What is kept of `a` and `b`."""
        parts: list[e.Expression] = []
        for place, function in enumerate(self.functions):
            a, b = _at(e.Bound("a"), place), _at(e.Bound("b"), place)
            match function.kind:
                case "Count":
                    parts.append(e.Binary("+", a, b))
                case "CollectList":
                    parts.append(e.Apply("extend", (a, b)))
                case "Average":
                    parts.append(e.TupleOf(tuple(e.Binary("+", _at(a, n), _at(b, n)) for n in (0, 1))))
                case _:
                    parts.append(e.Conditional(_is_null(b), a, self._joined(function, a, b)))
        return e.TupleOf(tuple(parts))

    def finished(self, output: Any, keys: Sequence[Any], key: e.Expression, acc: e.Expression) -> e.Expression:
        """A column of the result, of the key and of what was kept."""
        rows = Rows({})
        rows.known = [(each, _at(key, place)) for place, each in enumerate(keys)]
        # A column that is grouped by is also known by the name that the grouping gave it.
        rows.known += [(each.children[0], _at(key, place)) for place, each in enumerate(keys) if each.kind == "Alias"]
        for place, (tree, function) in enumerate(zip(self.trees, self.functions, strict=True)):
            kept = _at(acc, place)
            if function.kind == "Average":
                none = e.Binary("=", _at(kept, 1), e.Constant(0))
                kept = e.Conditional(none, NULL, e.Apply("divide", (_at(kept, 0), _at(kept, 1))))
            rows.known.append((tree, kept))
        return rows.value(output)


# --- windows ---


def windowed(rows: Rows, group: e.Expression, node: Any) -> e.Expression:
    """The rows of a group, each with the values of the window functions at its end."""
    orders = node.expressions_of("orderSpec")
    sorted_ = sorted_rows(group, "row", rows, orders)
    compared = e.TupleOf(tuple(rows.value(order.children[0]) for order in orders))
    keys = e.Comprehension(compared, (e.Clause(("row",), e.Bound("all")),))
    values = tuple(
        _window_value(rows, each.children[0] if each.kind == "Alias" else each)
        for each in node.expressions_of("windowExpressions")
    )
    extended = e.Binary("+", e.Apply("element", (e.Bound("all"), e.Bound("i"))), e.TupleOf(values))
    places = e.Apply("range", (e.Apply("size", (e.Bound("all"),)),))
    body = e.Comprehension(extended, (e.Clause(("i",), places),))
    return e.Let("all", sorted_, e.Let("keys", keys, body))


def _window_value(rows: Rows, tree: Any) -> e.Expression:
    """The value of a window function in row `i` of `all`, whose values in the order are `keys`."""
    if tree.kind != "WindowExpression":
        raise refused(f"the window expression {tree.kind}")
    function, spec = tree.children[0], tree.children[1]
    i, mine = e.Bound("i"), e.Apply("element", (e.Bound("keys"), e.Bound("i")))
    match function.kind:
        case "RowNumber":
            return e.Binary("+", i, e.Constant(1))
        case "Rank" | "DenseRank":
            before = e.Apply("part", (e.Bound("keys"), e.Constant(0), i))
            smaller = e.Comprehension(e.Bound("k"), (e.Clause(("k",), before, (e.Binary("!=", e.Bound("k"), mine),)),))
            counted = smaller if function.kind == "Rank" else e.Apply("distinct", (smaller,))
            return e.Binary("+", e.Apply("size", (counted,)), e.Constant(1))
        case "Lag" | "Lead":
            return _neighbour(rows, function)
        case "AggregateExpression":
            return _framed(rows, _function(function), spec)
    raise refused(f"the window function {function.kind}")


def _neighbour(rows: Rows, function: Any) -> e.Expression:
    """The value some rows before or after, or the default."""
    value, offset, default = function.children[:3]
    step = literal(offset) if offset.kind == "Literal" else literal(offset.children[0])
    if not isinstance(step, e.Constant) or not isinstance(step.value, int):
        raise refused("lag with an offset that is not a number")
    # Spark writes `lag(x, 1)` with an offset of -1: it is a look ahead by so much.
    distance = step.value if offset.kind == "Literal" else -step.value
    distance = -abs(distance) if function.kind == "Lag" else abs(distance)
    place = e.Binary("+", e.Bound("i"), e.Constant(distance))
    there = e.Let("row", e.Apply("element", (e.Bound("all"), e.Bound("j"))), rows.value(value))
    inside = e.Binary(
        "AND",
        e.Binary("<=", e.Constant(0), e.Bound("j")),
        e.Binary("<", e.Bound("j"), e.Apply("size", (e.Bound("all"),))),
    )
    missing = e.Let("row", e.Apply("element", (e.Bound("all"), e.Bound("i"))), rows.value(default))
    return e.Let("j", place, e.Conditional(inside, there, missing))


def _framed(rows: Rows, function: Any, spec: Any) -> e.Expression:
    """An aggregate over the rows of a frame: all, or those up to this one."""
    frame = spec.arguments.get("frameSpecification")
    lower, upper = getattr(frame, "arguments", {}).get("lower"), getattr(frame, "arguments", {}).get("upper")
    names = [getattr(each, "kind", each) for each in (lower, upper)]
    kind = str(getattr(frame, "arguments", {}).get("frameType"))
    if names[0] not in ("UnboundedPreceding", "UnboundedPreceding$"):
        raise refused("a window frame that does not start at the first row")
    j, i = e.Bound("j"), e.Bound("i")
    keys = [e.Apply("element", (e.Bound("keys"), each)) for each in (j, i)]
    if names[1] in ("UnboundedFollowing", "UnboundedFollowing$"):
        test: e.Expression = e.Constant(True)
    elif names[1] in ("CurrentRow", "CurrentRow$"):
        test = e.Binary("<=", j, i)
        if kind.startswith("Range"):
            test = e.Binary("OR", test, e.Binary("=", keys[0], keys[1]))
    else:
        raise refused("a window frame that does not end at this row or the last")
    places = e.Apply("range", (e.Apply("size", (e.Bound("all"),)),))
    framed = e.Clause(("j",), places, (test,))
    value = rows.value(function.children[0])
    there = e.Comprehension(e.Let("row", e.Apply("element", (e.Bound("all"), j)), value), (framed,))
    present = e.Comprehension(e.Bound("x"), (e.Clause(("x",), there, (e.Binary("!=", e.Bound("x"), NULL),)),))
    if function.kind == "Average":
        present = e.Comprehension(e.Apply("tofloat", (e.Bound("y"),)), (e.Clause(("y",), present),))
    return e.Let("values_", present, over(function, e.Bound("values_")))
