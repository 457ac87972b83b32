"""Expressions of Python as expressions of MSVL."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from firesteel.model.msvl import terms as e
from firesteel.model.msvl.data import expression_of
from firesteel.model.translate.known import KNOWN, NULL, Untranslatable, boolean, joined, method_call, tested
from firesteel.model.translate.names import Names

Env = Mapping[str, e.Expression]
"""What the names of a function's parameters and variables stand for."""


class Resolver(Protocol):
    """What a function knows of the world around it."""

    names: Names

    def outside(self, name: str) -> Any:
        """The object that a name stands for outside the function."""

    def call(self, function: Callable[..., Any], arguments: list[e.Expression], named: dict[str, e.Expression]) -> Any:
        """A call of another function of the user's."""


_COMPARED: dict[type, str] = {
    ast.Eq: "=",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "=",
    ast.IsNot: "!=",
}
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_APPLIED: dict[type, str] = {ast.Div: "divide", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "power"}


class Expressions:
    """Translates the expressions of one function."""

    def __init__(self, resolver: Resolver) -> None:
        self.world = resolver

    def value(self, node: ast.expr, env: Env) -> e.Expression:
        """The translation of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Untranslatable(f"{ast.unparse(node)!r} ({type(node).__name__})")
        made: e.Expression = method(node, env)
        return made

    def values(self, nodes: list[ast.expr], env: Env) -> list[e.Expression]:
        return [self.value(node, env) for node in nodes]

    def test(self, node: ast.expr, env: Env) -> e.Expression:
        return tested(self.value(node, env))

    def _constant(self, node: ast.Constant, env: Env) -> e.Expression:
        return self.data(node.value)

    def data(self, value: Any) -> e.Expression:
        """A value from outside the function."""
        try:
            return expression_of(value)
        except TypeError as error:
            raise Untranslatable(f"a value of Python: {error}") from None

    def _name(self, node: ast.Name, env: Env) -> e.Expression:
        if node.id in env:
            return env[node.id]
        return self.data(self.world.outside(node.id))

    def _attribute(self, node: ast.Attribute, env: Env) -> e.Expression:
        return self.data(self._object(node, env))

    def _object(self, node: ast.expr, env: Env) -> Any:
        """The object outside the function that `name` or `name.attribute` is."""
        if isinstance(node, ast.Attribute):
            return getattr(self._object(node.value, env), node.attr)
        if isinstance(node, ast.Name) and node.id not in env:
            return self.world.outside(node.id)
        raise Untranslatable(f"{ast.unparse(node)!r}")

    def _binop(self, node: ast.BinOp, env: Env) -> e.Expression:
        left, right = self.value(node.left, env), self.value(node.right, env)
        if type(node.op) in _SIGNS:
            return e.Binary(_SIGNS[type(node.op)], left, right)
        if type(node.op) in _APPLIED:
            return e.Apply(_APPLIED[type(node.op)], (left, right))
        raise Untranslatable(f"the operator in {ast.unparse(node)!r}")

    def _unaryop(self, node: ast.UnaryOp, env: Env) -> e.Expression:
        match node.op:
            case ast.Not():
                return e.Unary("!", self.test(node.operand, env))
            case ast.USub():
                body = self.value(node.operand, env)
                if isinstance(body, e.Constant) and type(body.value) in (int, float):
                    return e.Constant(-body.value)  # type: ignore[operator]
                return e.Unary("-", body)
            case _:
                raise Untranslatable(f"the operator in {ast.unparse(node)!r}")

    def _boolop(self, node: ast.BoolOp, env: Env) -> e.Expression:
        *before, made = self.values(node.values, env)
        either = isinstance(node.op, ast.Or)
        for each in reversed(before):
            if boolean(each) and boolean(made):
                made = e.Binary("OR" if either else "AND", each, made)
            else:
                made = e.Conditional(tested(each), *((each, made) if either else (made, each)))
        return made

    def _compare(self, node: ast.Compare, env: Env) -> e.Expression:
        sides = self.values([node.left, *node.comparators], env)
        made: e.Expression | None = None
        for left, sign, right in zip(sides, node.ops, sides[1:], strict=False):
            each = self._compared(left, sign, right)
            made = each if made is None else e.Binary("AND", made, each)
        assert made is not None
        return made

    def _compared(self, left: e.Expression, sign: ast.cmpop, right: e.Expression) -> e.Expression:
        match sign:
            case ast.In():
                return e.Apply("has", (left, right))
            case ast.NotIn():
                return e.Unary("!", e.Apply("has", (left, right)))
            case _:
                return e.Binary(_COMPARED[type(sign)], left, right)

    def _ifexp(self, node: ast.IfExp, env: Env) -> e.Expression:
        return e.Conditional(self.test(node.test, env), self.value(node.body, env), self.value(node.orelse, env))

    def _tuple(self, node: ast.Tuple, env: Env) -> e.Expression:
        return e.TupleOf(self._items(node.elts, env))

    def _list(self, node: ast.List, env: Env) -> e.Expression:
        return e.ListOf(self._items(node.elts, env))

    def _set(self, node: ast.Set, env: Env) -> e.Expression:
        raise Untranslatable("a set, which has no order")

    def _items(self, nodes: list[ast.expr], env: Env) -> tuple[e.Expression, ...]:
        if any(isinstance(node, ast.Starred) for node in nodes):
            raise Untranslatable("a star in a list or tuple")
        return tuple(self.values(nodes, env))

    def _dict(self, node: ast.Dict, env: Env) -> e.Expression:
        keys = [key for key in node.keys if key is not None]
        if len(keys) != len(node.keys):
            raise Untranslatable("** in a dict")
        return e.MapOf(tuple(zip(self.values(keys, env), self.values(node.values, env), strict=True)))

    def _subscript(self, node: ast.Subscript, env: Env) -> e.Expression:
        whole = self.value(node.value, env)
        if isinstance(node.slice, ast.Slice):
            bounds = [node.slice.lower, node.slice.upper, *([node.slice.step] if node.slice.step else [])]
            return e.Apply("part", (whole, *(NULL if each is None else self.value(each, env) for each in bounds)))
        index = self.value(node.slice, env)
        if isinstance(index, e.Constant) and type(index.value) is int and index.value >= 0:
            return e.Index(whole, index)
        return e.Apply("element", (whole, index))

    def _joinedstr(self, node: ast.JoinedStr, env: Env) -> e.Expression:
        parts = [self._formatted(each, env) for each in node.values]
        made: e.Expression = parts[0] if parts else e.Constant("")
        for each in parts[1:]:
            made = e.Binary("+", made, each)
        return made

    def _formatted(self, node: ast.expr, env: Env) -> e.Expression:
        if not isinstance(node, ast.FormattedValue):
            return self.value(node, env)
        value = self.value(node.value, env)
        if node.conversion in (ord("r"), ord("s")):
            value = e.Apply("shown" if node.conversion == ord("r") else "text", (value,))
        if node.format_spec is None:
            return e.Apply("text", (value,))
        return e.Apply("format", (value, self.value(node.format_spec, env)))

    # --- comprehensions ---

    def target(self, node: ast.expr, env: dict[str, e.Expression]) -> str:
        """Bind a target to a new name; one with parts stands for them."""
        if isinstance(node, ast.Name):
            name = self.world.names.fresh(node.id)
            env[node.id] = e.Bound(name)
            return name
        if not isinstance(node, ast.Tuple | ast.List):
            raise Untranslatable(f"the target {ast.unparse(node)!r}")
        name = self.world.names.fresh("parts")
        self._take_apart(node, e.Bound(name), env)
        return name

    def _take_apart(self, node: ast.Tuple | ast.List, whole: e.Expression, env: dict[str, e.Expression]) -> None:
        for place, each in enumerate(node.elts):
            part = e.Index(whole, e.Constant(place))
            if isinstance(each, ast.Name):
                env[each.id] = part
            elif isinstance(each, ast.Tuple | ast.List):
                self._take_apart(each, part, env)
            else:
                raise Untranslatable(f"the target {ast.unparse(node)!r}")

    def _clauses(self, generators: list[ast.comprehension], env: Env) -> tuple[tuple[e.Clause, ...], Env]:
        inner, clauses = dict(env), []
        for each in generators:
            source = self.value(each.iter, inner)
            name = self.target(each.target, inner)
            clauses.append(e.Clause((name,), source, tuple(self.test(test, inner) for test in each.ifs)))
        return tuple(clauses), inner

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, env: Env) -> e.Expression:
        clauses, inner = self._clauses(node.generators, env)
        return e.Comprehension(self.value(node.elt, inner), clauses)

    _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp, env: Env) -> e.Expression:
        clauses, inner = self._clauses(node.generators, env)
        pair = e.TupleOf((self.value(node.key, inner), self.value(node.value, inner)))
        return e.Apply("tomap", (e.Comprehension(pair, clauses),))

    # --- calls ---

    def _call(self, node: ast.Call, env: Env) -> e.Expression:
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            raise Untranslatable(f"a star in {ast.unparse(node)!r}")
        named = {str(each.arg): each.value for each in node.keywords}
        if isinstance(node.func, ast.Attribute) and self._is_data(node.func.value, env):
            if named:
                raise Untranslatable(f"named arguments in {ast.unparse(node)!r}")
            return method_call(node.func.attr, self.value(node.func.value, env), self.values(node.args, env))
        function = self._object(node.func, env)
        return self.called(function, node.args, named, env)

    def _is_data(self, node: ast.expr, env: Env) -> bool:
        """Is it a value, and not a module, class or other object outside the function?"""
        try:
            return isinstance(self._object(node, env), str | int | float | list | tuple | dict)
        except (Untranslatable, AttributeError):
            return True

    def called(self, function: Any, nodes: list[ast.expr], named: dict[str, ast.expr], env: Env) -> e.Expression:
        """A call of a function that stands outside."""
        if function in (sorted, min, max) and (named or len(nodes) == 1):
            return self._ordered(function, nodes, named, env)
        if function in (map, filter) and len(nodes) == 2 and not named:
            return self._mapped(function, nodes, env)
        if function in (len, sorted, sum) and len(nodes) == 1 and _is_set(nodes[0]):
            made = joined(function, [self._distinct(nodes[0], env)])
            assert made is not None
            return made
        name = str(getattr(function, "__name__", ""))
        if getattr(builtins, name, None) is function and function not in KNOWN:
            raise Untranslatable(f"Python's {name}, called so")
        if function is zip and isinstance(named.get("strict"), ast.Constant):
            named = {}
        arguments = self.values(nodes, env)
        found = joined(function, arguments) if not named else None
        if found is not None:
            return found
        given = {name: self.value(node, env) for name, node in named.items()}
        call: e.Expression = self.world.call(function, arguments, given)
        return call

    def _distinct(self, node: ast.expr, env: Env) -> e.Expression:
        if isinstance(node, ast.SetComp):
            clauses, inner = self._clauses(node.generators, env)
            return e.Apply("distinct", (e.Comprehension(self.value(node.elt, inner), clauses),))
        assert isinstance(node, ast.Call)
        return e.Apply("distinct", tuple(self.values(node.args, env)))

    def _applied(self, node: ast.expr, argument: e.Expression, env: Env) -> e.Expression:
        """A function that stands as an argument, applied: a lambda, or a name."""
        if isinstance(node, ast.Lambda) and len(node.args.args) == 1:
            return self.value(node.body, {**env, node.args.args[0].arg: argument})
        function = self._object(node, env)
        found = joined(function, [argument])
        if found is not None:
            return found
        call: e.Expression = self.world.call(function, [argument], {})
        return call

    def _mapped(self, function: Any, nodes: list[ast.expr], env: Env) -> e.Expression:
        name = self.world.names.fresh("x")
        applied = self._applied(nodes[0], e.Bound(name), env)
        source = self.value(nodes[1], env)
        if function is map:
            return e.Comprehension(applied, (e.Clause((name,), source),))
        return e.Comprehension(e.Bound(name), (e.Clause((name,), source, (tested(applied),)),))

    def _ordered(self, function: Any, nodes: list[ast.expr], named: dict[str, ast.expr], env: Env) -> e.Expression:
        """sorted, min and max, with their key."""
        several = len(nodes) > 1 and function is not sorted
        if not (nodes and (several or len(nodes) == 1)) or set(named) - {
            "key",
            *(["reverse"] if function is sorted else []),
        }:
            raise Untranslatable(f"{function.__name__} with these arguments")
        if several:
            source: e.Expression = e.ListOf(tuple(self.values(nodes, env)))
        else:
            source = self._distinct(nodes[0], env) if _is_set(nodes[0]) else self.value(nodes[0], env)
        if not named:
            made = joined(function, [source])
            assert made is not None
            return made
        name = self.world.names.fresh("x")
        key = self._applied(named["key"], e.Bound(name), env) if "key" in named else e.Bound(name)
        pairs = e.Comprehension(e.TupleOf((key, e.Bound(name))), (e.Clause((name,), source),))
        if function is sorted:
            return e.Apply("sortedby", (pairs, *([self.test(named["reverse"], env)] if "reverse" in named else [])))
        return e.Apply(f"{function.__name__}by", (pairs,))


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.SetComp):
        return True
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "set" and len(node.args) == 1
    )
