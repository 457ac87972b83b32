"""Expressions of Spark SQL as expressions of MSVL, with nulls and errors as in ANSI mode.

An expression is translated for a row that is a tuple. What is known of a column is its place there, by the id that
Spark gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.model.msvl import terms as e
from firesteel.model.msvl.data import expression_of

NULL, TRUE, FALSE = e.Constant(None), e.Constant(True), e.Constant(False)
LONG = (-(2**63), 2**63 - 1)
RANGES = {"tinyint": (-128, 127), "smallint": (-32768, 32767), "int": (-(2**31), 2**31 - 1), "bigint": LONG}
SIMPLE = {*RANGES, "double", "float", "string", "boolean", "void"}

PRELUDE = """\
define sql_and(a, b) = a = false OR b = false ? false : a = null OR b = null ? null : true;
define sql_or(a, b) = a = true OR b = true ? true : a = null OR b = null ? null : false;
define sql_not(a) = a = null ? null : !a;
define sql_equal(a, b) = a = null OR b = null ? null : a = b;
define sql_less(a, b) = a = null OR b = null ? null : a < b;
define sql_at_most(a, b) = a = null OR b = null ? null : a <= b;
define sql_less_bool(a, b) = a = null OR b = null ? null : !a AND b;
define sql_add(a, b, low, high) = a = null OR b = null ? null : within(a + b, low, high);
define sql_subtract(a, b, low, high) = a = null OR b = null ? null : within(a - b, low, high);
define sql_multiply(a, b, low, high) = a = null OR b = null ? null : within(a * b, low, high);
define sql_divide(a, b) = a = null OR b = null ? null : divide(a, b);
define sql_quotient(a, b) = a = null OR b = null ? null : a / b;
define sql_remainder(a, b) = a = null OR b = null ? null : a % b;\
"""
"""What the operators of SQL mean. `within` refuses a number that is too large for its type."""

_JOINED = {
    "And": "sql_and",
    "Or": "sql_or",
    "EqualTo": "sql_equal",
    "LessThan": "sql_less",
    "LessThanOrEqual": "sql_at_most",
    "Divide": "sql_divide",
    "Remainder": "sql_remainder",
    "IntegralDivide": "sql_quotient",
}
_CHECKED = {"Add": "sql_add", "Subtract": "sql_subtract", "Multiply": "sql_multiply"}
_TURNED = {"GreaterThan": "LessThan", "GreaterThanOrEqual": "LessThanOrEqual"}
_APPLIED: dict[str, Callable[..., e.Expression]] = {
    "Upper": lambda x: e.Apply("upper", (x,)),
    "Lower": lambda x: e.Apply("lower", (x,)),
    "Length": lambda x: e.Apply("size", (x,)),
    "StringTrim": lambda x: e.Apply("strip_of", (x, e.Constant(" "))),
    "StringTrimLeft": lambda x: e.Apply("lstrip", (x, e.Constant(" "))),
    "StringTrimRight": lambda x: e.Apply("rstrip", (x, e.Constant(" "))),
    "Contains": lambda x, y: e.Apply("contains", (x, y)),
    "StartsWith": lambda x, y: e.Apply("startswith", (x, y)),
    "EndsWith": lambda x, y: e.Apply("endswith", (x, y)),
    "Substring": lambda x, start, size: e.Apply("substring", (x, start, size)),
    "StringReplace": lambda x, old, new: e.Apply("replace", (x, old, new)),
    "Abs": lambda x: e.Apply("abs", (x,)),
    "UnaryMinus": lambda x: e.Unary("-", x),
    "Reverse": lambda x: e.Apply("part", (x, NULL, NULL, e.Constant(-1))),
    "ArrayContains": lambda x, y: e.Apply("contains", (x, y)),
    "Sqrt": lambda x: e.Apply("sqrt", (x,)),
}


def refused(what: str, why: str = "has no translation") -> InvalidArgument:
    return InvalidArgument(f"{what} {why} into MSVL: the operators of Spark SQL that have one are in docs/models.md")


class Rows:
    """Translates expressions over a row: where each column is, by its id."""

    def __init__(self, places: Mapping[int, e.Expression]) -> None:
        self.places = dict(places)
        self.known: list[tuple[Any, e.Expression]] = []
        """Expressions that are computed already, such as the columns that are grouped by."""
        self._number = 0

    def fresh(self) -> str:
        self._number += 1
        return f"v{self._number}"

    def value(self, tree: Any) -> e.Expression:
        """The translation of an expression of Catalyst."""
        for done, place in self.known:
            if done == tree:
                return place
        kind, children = tree.kind, tree.children
        if kind == "AttributeReference":
            if tree.id not in self.places:
                raise refused(
                    f"the column {tree.name}", "does not come from the data below it, so it has no translation"
                )
            return self.places[tree.id]
        if kind == "Alias":
            return self.value(children[0])
        if kind == "Literal":
            return literal(tree)
        if kind in _TURNED:
            return self._compared(_TURNED[kind], children[1], children[0])
        if kind in ("LessThan", "LessThanOrEqual"):
            return self._compared(kind, *children)
        if kind in _CHECKED:
            low, high = RANGES.get(tree.data_type, (None, None))
            if tree.data_type not in (*RANGES, "double", "float"):
                raise refused(f"{kind} of {tree.data_type}")
            return e.Apply(_CHECKED[kind], (*map(self.value, children), e.Constant(low), e.Constant(high)))
        if kind in _JOINED:
            return e.Apply(_JOINED[kind], tuple(self.value(each) for each in children[:2]))
        special = getattr(self, f"_{kind.lower()}", None)
        if special is not None:
            made: e.Expression = special(tree)
            return made
        if kind in _APPLIED:
            return self._strict([self.value(each) for each in children], _APPLIED[kind])
        raise refused(f"the expression {kind}")

    def _strict(self, arguments: list[e.Expression], make: Callable[..., e.Expression]) -> e.Expression:
        """Null where an argument is null."""
        names = [self.fresh() for _ in arguments]
        made = make(*map(e.Bound, names))
        test: e.Expression | None = None
        for name in names:
            null = e.Binary("=", e.Bound(name), NULL)
            test = null if test is None else e.Binary("OR", test, null)
        assert test is not None
        made = e.Conditional(test, NULL, made)
        for name, argument in zip(reversed(names), reversed(arguments), strict=True):
            made = e.Let(name, argument, made)
        return made

    def _compared(self, kind: str, left: Any, right: Any) -> e.Expression:
        if left.data_type == "boolean":
            raise refused("an order of booleans")
        return e.Apply(_JOINED[kind], (self.value(left), self.value(right)))

    def _not(self, tree: Any) -> e.Expression:
        return e.Apply("sql_not", (self.value(tree.children[0]),))

    def _isnull(self, tree: Any) -> e.Expression:
        return e.Binary("=", self.value(tree.children[0]), NULL)

    def _isnotnull(self, tree: Any) -> e.Expression:
        return e.Binary("!=", self.value(tree.children[0]), NULL)

    def _equalnullsafe(self, tree: Any) -> e.Expression:
        return e.Binary("=", self.value(tree.children[0]), self.value(tree.children[1]))

    def _coalesce(self, tree: Any) -> e.Expression:
        *before, made = map(self.value, tree.children)
        for each in reversed(before):
            name = self.fresh()
            made = e.Let(name, each, e.Conditional(e.Binary("!=", e.Bound(name), NULL), e.Bound(name), made))
        return made

    def _casewhen(self, tree: Any) -> e.Expression:
        parts = [self.value(each) for each in tree.children]
        made = parts.pop() if len(parts) % 2 else NULL
        for place in range(len(parts) - 2, -1, -2):
            made = e.Conditional(e.Binary("=", parts[place], TRUE), parts[place + 1], made)
        return made

    def _if(self, tree: Any) -> e.Expression:
        test, then, otherwise = map(self.value, tree.children)
        return e.Conditional(e.Binary("=", test, TRUE), then, otherwise)

    def _in(self, tree: Any) -> e.Expression:
        first, *others = map(self.value, tree.children)
        made: e.Expression = FALSE
        for each in reversed(others):
            made = e.Apply("sql_or", (e.Apply("sql_equal", (first, each)), made))
        return made

    def _concat(self, tree: Any) -> e.Expression:
        def joined(*parts: e.Expression) -> e.Expression:
            made = parts[0]
            for each in parts[1:]:
                made = e.Binary("+", made, each)
            return made

        return self._strict([self.value(each) for each in tree.children], joined)

    def _createarray(self, tree: Any) -> e.Expression:
        return e.ListOf(tuple(map(self.value, tree.children)))

    def _split(self, tree: Any) -> e.Expression:
        pattern = tree.children[1]
        if pattern.kind != "Literal" or not str(pattern.value).strip(r".\^$*+?{}[]|()") == str(pattern.value):
            raise refused("split by a pattern")
        return self._strict([self.value(tree.children[0])], lambda x: e.Apply("split", (x, literal(pattern))))

    _stringsplit = _split

    def _size(self, tree: Any) -> e.Expression:
        return self._strict([self.value(tree.children[0])], lambda x: e.Apply("size", (x,)))

    def _getarrayitem(self, tree: Any) -> e.Expression:
        return self._strict([self.value(each) for each in tree.children[:2]], lambda x, i: e.Apply("element", (x, i)))

    def _cast(self, tree: Any) -> e.Expression:
        child = tree.children[0]
        source, target = child.data_type, tree.data_type
        value = self.value(child)
        if source == target or source == "void":
            return value
        if source in RANGES and target in RANGES:
            low, high = RANGES[target]
            checked = (e.Constant(low), e.Constant(high))
            return self._strict([value], lambda x: e.Apply("within", (x, *checked)))
        if target == "double" and source in (*RANGES, "string", "float"):
            return self._strict([value], lambda x: e.Apply("tofloat", (x,)))
        if target in RANGES and source in ("string", "double"):
            low, high = RANGES[target]
            checked = (e.Constant(low), e.Constant(high))
            return self._strict([value], lambda x: e.Apply("within", (e.Apply("toint", (x,)), *checked)))
        if target == "string" and source in RANGES:
            return self._strict([value], lambda x: e.Apply("text", (x,)))
        if target == "string" and source == "boolean":
            return self._strict([value], lambda x: e.Apply("str", (x,)))
        raise refused(f"a cast from {source} to {target}")


def literal(tree: Any) -> e.Expression:
    """A constant of SQL."""
    try:
        value = tree.value
    except KeyError:
        if tree.data_type not in ("double", "float"):
            raise refused(f"a constant of type {tree.data_type}") from None
        value = float(tree.handle.value())
    if tree.data_type not in SIMPLE:
        raise refused(f"a constant of type {tree.data_type}")
    return expression_of(value)


def tested(value: e.Expression) -> e.Expression:
    """A condition: what is null does not hold."""
    return e.Binary("=", value, TRUE)


def sort_parts(rows: Rows, order: Any) -> tuple[e.Expression, bool]:
    """What rows are compared by, for one column of an order, and whether backwards: nulls are put where they belong."""
    descending = order.arguments.get("direction") == "Descending"
    nulls_first = order.arguments.get("nullOrdering") == "NullsFirst"
    place = e.Constant(0 if nulls_first is not descending else 2)
    name = rows.fresh()
    nothing, something = e.TupleOf((place, e.Constant(0))), e.TupleOf((e.Constant(1), e.Bound(name)))
    null = e.Binary("=", e.Bound(name), NULL)
    return e.Let(name, rows.value(order.children[0]), e.Conditional(null, nothing, something)), descending


def sorted_rows(records: e.Expression, row: str, rows: Rows, orders: Any) -> e.Expression:
    """Records in an order: by the last column first, as sorting keeps what is equal in its order."""
    made = records
    for order in reversed(tuple(orders)):
        key, descending = sort_parts(rows, order)
        pairs = e.Comprehension(e.TupleOf((key, e.Bound(row))), (e.Clause((row,), made),))
        made = e.Apply("sortedby", (pairs, e.Constant(descending)))
    return made
