"""What a small function does, read from its text: which part of a record it gives, how it merges two values.

Only what is plain is said. Everything else is unknown, and nothing is reported because of it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import FunctionType
from typing import Any

from firesteel.model.lint.reading import causes_in, outside, parsed

WHOLE = -1
"""The whole record, among parts of it that are given by their places."""


class Merge(Enum):
    """How a function of two values merges them."""

    ANY_ORDER = "any order"
    """Order does not matter, whatever the values are."""
    BY_TYPE = "by type"
    """A sum or a union: of numbers and sets in any order, of texts, lists or dictionaries not."""
    IN_ORDER = "in order"
    """Order matters for nearly all values."""
    UNKNOWN = "unknown"


_ANY_ORDER: tuple[Any, ...] = (max, min, math.gcd, math.lcm, operator.mul, operator.and_, operator.xor)
_BY_TYPE: tuple[Any, ...] = (operator.add, operator.concat, operator.iadd, operator.or_, operator.ior)
_IN_ORDER: tuple[Any, ...] = (operator.sub, operator.truediv, operator.floordiv, operator.mod, operator.pow)
_ORDERLESS: tuple[Any, ...] = (sum, len, sorted, max, min, set, frozenset, any, all)
_AS_THEY_ARE: tuple[Any, ...] = (list, tuple, iter, reversed)
_IN_TURN: tuple[Any, ...] = (*_AS_THEY_ARE, next, enumerate)


def body_of(function: Callable[..., Any]) -> tuple[tuple[str, ...], ast.expr] | None:
    """The parameters and the result of a function that is one expression."""
    tree = parsed(function)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Lambda(args=given, body=body):
                return _names(given), body
            case ast.FunctionDef(args=given, body=[*before, ast.Return(value=ast.expr() as body)]) if all(
                isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in before
            ):
                return _names(given), body
            case ast.FunctionDef():
                return None
            case _:
                continue
    return None


def parts_of_key(function: Callable[..., Any] | None) -> frozenset[int]:
    """Which parts of a record a key is made of, so that two records with equal keys agree in them.

    >>> parts_of_key(lambda pair: (-pair[1], pair[0])) == {0, 1}
    True
    >>> parts_of_key(lambda pair: pair) == {WHOLE}
    True
    >>> parts_of_key(lambda pair: len(pair[0]))
    frozenset()
    """
    if function is None:
        return frozenset({WHOLE})
    if isinstance(function, operator.itemgetter):
        return frozenset(one for one in function.__reduce__()[1] if isinstance(one, int))
    found = body_of(function)
    if found is None or len(found[0]) != 1:
        return frozenset()
    (name,), body = found
    parts = body.elts if isinstance(body, ast.Tuple | ast.List) else [body]
    return frozenset(part for each in parts if (part := _part(each, name)) is not None)


def moved_parts(function: Callable[..., Any]) -> dict[int, int] | None:
    """For a function that makes a tuple: which part of its result is which part of the record as it was.

    >>> moved_parts(lambda pair: (pair[1], pair[0]))
    {0: 1, 1: 0}
    >>> moved_parts(lambda pair: pair[0]) is None
    True
    """
    found = body_of(function)
    match found:
        case ((name,), ast.Tuple(elts=parts)):
            places = {place: _part(each, name) for place, each in enumerate(parts)}
            return {place: part for place, part in places.items() if part is not None and part != WHOLE}
        case _:
            return None


@dataclass(frozen=True)
class Place:
    """How a function of one record makes a part of its result."""

    reads: frozenset[int]
    """The parts of the record that it is made of; `WHOLE` where the record is used in another way."""
    lists: frozenset[int]
    """Those of them whose order, if they are lists, still shows: they are handed on, or gone through in turn."""


def places_of(function: Callable[..., Any]) -> dict[int, Place] | None:
    """The parts of a function's result: those of a tuple, else `WHOLE`. None where its text does not say.

    >>> places_of(lambda pair: (pair[1] + 1, sorted(pair[0])))[0]
    Place(reads=frozenset({1}), lists=frozenset())
    >>> places_of(lambda pair: list(pair[1]))
    {-1: Place(reads=frozenset({1}), lists=frozenset({1}))}
    """
    if isinstance(function, operator.itemgetter):
        parts = parts_of_key(function)
        return {WHOLE: Place(parts, parts)} if len(parts) == 1 else None
    found = body_of(function)
    if found is None or len(found[0]) != 1:
        return None
    (name,), body = found
    names = dict(_around(function))
    if isinstance(body, ast.Tuple):
        return {place: _place(each, name, names) for place, each in enumerate(body.elts)}
    return {WHOLE: _place(body, name, names)}


def _place(expression: ast.expr, name: str, names: dict[str, Any]) -> Place:
    reads = frozenset(_reads(expression, name))
    return Place(reads, frozenset(part for part in reads if _shows_order(expression, name, part, names)))


def _reads(expression: ast.AST, name: str) -> Iterator[int]:
    """The parts of a variable that an expression reads. Of a part of a part it is not known whether luck is in it."""
    match expression:
        case ast.Call(func=ast.Attribute(value=inner, attr="get")) if _part(inner, name) is not None:
            return
        case ast.Call(func=ast.Attribute(value=inner), args=given, keywords=named):
            for one in (inner, *given, *named):
                yield from _reads(one, name)
        case ast.Attribute(value=inner) if _part(inner, name) not in (None, WHOLE):
            return
        case ast.Subscript(value=ast.Subscript() as inner, slice=ast.Constant() | ast.UnaryOp()) if (
            _part(inner, name) is not None
        ):
            return
        case ast.Subscript(value=ast.Name(id=given), slice=ast.Constant(value=int() as part)) if given == name:
            yield part if part >= 0 else WHOLE
        case ast.Name(id=given) if given == name:
            yield WHOLE
        case _:
            for child in ast.iter_child_nodes(expression):
                yield from _reads(child, name)


def _shows_order(expression: ast.expr, name: str, part: int, names: dict[str, Any]) -> bool:
    match expression:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_shows_order(each, name, part, names) for each in parts)
        case ast.Name(id=given) if given == name:
            return True
        case _ if _part(expression, name) == part:
            return True
        case _:
            return _hangs_on_order(expression, name, part, names) is True


def shows_order(function: Callable[..., Any]) -> bool:
    """Of a function of a list: does what it gives show the list's order? False where that is not plain.

    >>> shows_order(list), shows_order(sorted), shows_order(lambda vs: (len(vs), vs))
    (True, False, True)
    """
    made = places_of(function)
    if made is not None:
        return any(WHOLE in place.lists for place in made.values())
    return order_of_values(function, of_pair=False) is True


def reads_of_key(function: Callable[..., Any]) -> list[frozenset[int]]:
    """The parts of a record that a key goes by, first by the first of these; empty where that is not known.

    >>> reads_of_key(lambda pair: (-pair[1], len(pair[0])))
    [frozenset({1}), frozenset({0})]
    >>> reads_of_key(lambda pair: pair)
    [frozenset({0})]
    """
    if isinstance(function, operator.itemgetter):
        return [frozenset({one}) for one in function.__reduce__()[1] if isinstance(one, int)]
    if is_identity(function):
        return [frozenset({0})]
    return [place.reads for place in (places_of(function) or {}).values()]


def neutral_of(function: Callable[..., Any]) -> int | None:
    """What a plain sum or product may start with without a change; None for all other functions."""
    if function in (operator.add, operator.iadd):
        return 0
    if function is operator.mul:
        return 1
    match body_of(function):
        case ((left, right), ast.BinOp(left=ast.Name(id=one), op=op, right=ast.Name(id=other))):
            neutral = 0 if isinstance(op, ast.Add) else 1 if isinstance(op, ast.Mult) else None
            return neutral if {one, other} == {left, right} else None
        case _:
            return None


def is_identity(function: Callable[..., Any]) -> bool:
    """Does a function give its argument back?"""
    match body_of(function):
        case ((name,), ast.Name(id=given)):
            return name == given
        case _:
            return False


def lucky_places(function: Callable[..., Any]) -> frozenset[int]:
    """Of a function whose result hangs on luck: the parts of a tuple that do; `WHOLE` where that is not plain.

    >>> import random
    >>> lucky_places(lambda x: (x, 1, random.random()))
    frozenset({2})
    """
    match body_of(function):
        case (names, ast.Tuple(elts=parts)):
            lucky = frozenset(place for place, each in enumerate(parts) if _is_lucky(each, names, function))
            return lucky or frozenset({WHOLE})
        case _:
            return frozenset({WHOLE})


def _is_lucky(expression: ast.expr, names: tuple[str, ...], around: Callable[..., Any]) -> bool:
    """A function of the expression alone is made, and read; it is not called."""
    text = f"lambda {', '.join(names)}: {ast.unparse(expression)}"
    return bool(causes_in(eval(compile(text, "<part>", "eval"), dict(_around(around)))))


def takes_one(function: Callable[..., Any]) -> bool:
    """Does a reducer give one of its arguments back, as it is?"""
    match body_of(function):
        case (names, ast.Name(id=given)):
            return given in names
        case _:
            return False


def spreads(function: Callable[..., Any], *, of_pair: bool) -> bool:
    """Does a function that gives several records give one for each value of a list, whatever their order is?

    >>> spreads(list, of_pair=False), spreads(lambda kv: [(kv[0], v) for v in kv[1]], of_pair=True)
    (True, True)
    >>> spreads(enumerate, of_pair=False), spreads(lambda vs: [next(iter(vs))], of_pair=False)
    (False, False)
    """
    if not of_pair and any(function is one for one in (*_AS_THEY_ARE, sorted, set, frozenset)):
        return True
    found = body_of(function)
    if found is None or len(found[0]) != 1:
        return False
    (name,), body = found
    part = 1 if of_pair else WHOLE
    match body:
        case ast.ListComp(elt=made, generators=[one]) | ast.GeneratorExp(elt=made, generators=[one]):
            return _part(one.iter, name) == part and part not in {*_reads(made, name)}
        case ast.Call(func=ast.Name(id="list" | "tuple" | "iter" | "sorted" | "set"), args=[inner]):
            return _part(inner, name) == part
        case _:
            return _part(body, name) == part


def merge_of(function: Callable[..., Any]) -> Merge:
    """How a reducer merges.

    >>> merge_of(lambda a, b: a - b)
    <Merge.IN_ORDER: 'in order'>
    >>> merge_of(lambda a, b: (a[0] + b[0], max(a[1], b[1])))
    <Merge.BY_TYPE: 'by type'>
    """
    for known, kind in ((_ANY_ORDER, Merge.ANY_ORDER), (_BY_TYPE, Merge.BY_TYPE), (_IN_ORDER, Merge.IN_ORDER)):
        if any(function is one for one in known):
            return kind
    found = body_of(function)
    if found is None or len(found[0]) != 2:
        return Merge.UNKNOWN
    return _merge(found[1], *found[0])


def _merge(body: ast.expr, left: str, right: str) -> Merge:
    match body:
        case ast.Name(id=name) if name in (left, right):
            return Merge.IN_ORDER
        case ast.BinOp(left=first, op=op, right=then) if _are_both(first, then, left, right):
            match op:
                case ast.Mult() | ast.BitAnd() | ast.BitXor():
                    return Merge.ANY_ORDER
                case ast.Add() | ast.BitOr():
                    return Merge.BY_TYPE
                case ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow():
                    return Merge.IN_ORDER
                case _:
                    return Merge.UNKNOWN
        case ast.Call(func=ast.Name(id="max" | "min"), args=[first, then], keywords=[]) if _are_both(
            first, then, left, right
        ):
            return Merge.ANY_ORDER
        case ast.IfExp() if _takes_an_end(body, left, right):
            return Merge.ANY_ORDER
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if parts:
            kinds = [_merge(each, left, right) for each in parts]
            for kind in (Merge.UNKNOWN, Merge.IN_ORDER, Merge.BY_TYPE):
                if kind in kinds:
                    return kind
            return Merge.ANY_ORDER
        case _:
            return Merge.UNKNOWN


def _takes_an_end(choice: ast.IfExp, left: str, right: str) -> bool:
    """Is it the larger or the smaller of both: `a if a > b else b`?"""
    match choice.test:
        case ast.Compare(left=one, ops=[ast.Lt() | ast.Gt() | ast.LtE() | ast.GtE()], comparators=[other]):
            given = {ast.dump(choice.body), ast.dump(choice.orelse)}
            return _are_both(one, other, left, right) and given == {ast.dump(one), ast.dump(other)}
        case _:
            return False


def order_of_values(function: Callable[..., Any], *, of_pair: bool) -> bool | None:
    """Does a function of grouped values hang on their order? Of `kv` itself or, with `of_pair`, of its second part.

    >>> order_of_values(list, of_pair=False), order_of_values(sum, of_pair=False)
    (True, False)
    >>> order_of_values(lambda kv: (kv[0], list(kv[1])), of_pair=True)
    True
    >>> order_of_values(lambda kv: (kv[0], sorted(kv[1])), of_pair=True)
    False
    """
    if not of_pair and any(function is one for one in _ORDERLESS):
        return False
    if not of_pair and any(function is one for one in _IN_TURN):
        return True
    found = body_of(function)
    if found is None or len(found[0]) != 1:
        return None
    (name,), body = found
    return _hangs_on_order(body, name, 1 if of_pair else WHOLE, dict(_around(function)))


def _hangs_on_order(body: ast.expr, name: str, part: int, names: dict[str, Any]) -> bool | None:
    """True and False where it is plain, else None."""
    import builtins

    def resolved(call: ast.expr) -> Any:
        return names.get(call.id, getattr(builtins, call.id, None)) if isinstance(call, ast.Name) else None

    match body:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            answers = [_hangs_on_order(each, name, part, names) for each in parts]
            return True if True in answers else None if None in answers else False
        case ast.Subscript(value=inner, slice=ast.Constant(value=int())) if _is_list_of(inner, name, part, resolved):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[inner]) if _part(
            inner, name
        ) == part or _is_list_of(inner, name, part, resolved):
            return True
        case ast.ListComp() if _is_list_of(body, name, part, resolved):
            return True
        case ast.SetComp(generators=[one]) if _part(one.iter, name) == part:
            return False
        case ast.Call(func=called, args=[inner, *_]):
            known = resolved(called)
            if _part(inner, name) == part or _is_list_of(inner, name, part, resolved):
                if any(known is one for one in _ORDERLESS):
                    return False
                if any(known is one for one in _IN_TURN):
                    return True
            return None
        case _:
            return False if _part(body, name) not in (None, part, WHOLE) else None


def _is_list_of(expression: ast.expr, name: str, part: int, resolved: Callable[[ast.expr], Any]) -> bool:
    """Is it what a list has, in its order?"""
    match expression:
        case ast.Call(func=called, args=[inner]):
            return any(resolved(called) is one for one in _IN_TURN) and _part(inner, name) == part
        case ast.Call(func=called, args=[_, inner]):
            return resolved(called) is map and _part(inner, name) == part
        case ast.ListComp(generators=[one]) | ast.GeneratorExp(generators=[one]):
            return _part(one.iter, name) == part
        case _:
            return False


def _are_both(first: ast.expr, then: ast.expr, left: str, right: str) -> bool:
    """Are these one parameter and the other, or the same part of both?"""
    for one, other in ((left, right), (right, left)):
        mine, theirs = _part(first, one), _part(then, other)
        if mine is not None and mine == theirs and _part(first, other) is None:
            return True
    return False


def _part(expression: ast.expr, name: str) -> int | None:
    """Which part of a variable an expression is; a minus before it does not matter."""
    match expression:
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=inner):
            return _part(inner, name)
        case ast.Name(id=given) if given == name:
            return WHOLE
        case ast.Subscript(value=ast.Name(id=given), slice=ast.Constant(value=int() as place)) if given == name:
            return place if place >= 0 else None
        case _:
            return None


def _names(given: ast.arguments) -> tuple[str, ...]:
    return tuple(one.arg for one in (*given.posonlyargs, *given.args))


def _around(function: Callable[..., Any]) -> Mapping[str, Any]:
    return outside(function) if isinstance(function, FunctionType) else {}
