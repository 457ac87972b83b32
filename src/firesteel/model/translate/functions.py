"""The user's functions as definitions of MSVL, from their source. What has no translation stays outside, by name."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.translate.blocks import Blocks
from firesteel.model.translate.changes import changed_later
from firesteel.model.translate.known import Untranslatable, boolean, joined
from firesteel.model.translate.names import Names
from firesteel.model.translate.syntax import Expressions
from firesteel.values.sources import source_of


@dataclass(frozen=True)
class Outside:
    """A function that is not translated: it has to be supplied where the model runs."""

    name: str
    reason: str
    function: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Made:
    """A function under the name that it has in the model."""

    name: str
    external: bool
    answers: bool = False
    """Is its value true or false, whatever it is given?"""

    def __call__(self, *arguments: e.Expression) -> e.Expression:
        """A call of it."""
        return e.External(self.name, arguments) if self.external else e.Apply(self.name, arguments)

    def text(self, *arguments: str) -> str:
        """A call of it, as text."""
        return f"{'ext ' if self.external else ''}{self.name}({', '.join(arguments)})"

    def test(self, *arguments: str) -> str:
        """A call of it in a condition, as text."""
        return self.text(*arguments) if self.answers else f"truth({self.text(*arguments)})"


@dataclass(frozen=True)
class Defined:
    """A function that is an expression of MSVL already, as those of DataFrames are."""

    parameters: tuple[str, ...]
    body: e.Expression

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError("this function has no meaning in Python")


class Functions:
    """All functions of a model."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.definitions: list[t.Define] = []
        self.outside: list[Outside] = []
        self._known: dict[Any, Made] = {}
        self._open: list[Any] = []
        """The functions that are being translated: one that calls itself is among them."""

    def made(self, function: Callable[..., Any], wanted: str, count: int, *, iterates: bool = False) -> Made:
        """The function for an operation; `wanted` is its name where it has none, `count` the number of arguments.

        `iterates` says that its last argument is an iterator, which is used up when it was gone through.
        """
        key = (_key(function), count)
        if key in self._known:
            return self._known[key]
        if isinstance(function, Defined):
            self._known[key] = self._defined(wanted, function.parameters, function.body)
            return self._known[key]
        try:
            if iterates:
                _goes_through_once(function, count)
            found = self._translated(function, wanted, count)
        except Untranslatable as error:
            name = self.names.fresh(_name(function) or wanted)
            self.outside.append(Outside(name, str(error), function))
            found = Made(name, external=True)
        self._known[key] = found
        return found

    def external(self, name: str, reason: str) -> Made:
        """A function from outside that stands for a whole operation or action, by its name in the model."""
        self.outside.append(Outside(name, reason))
        return Made(name, external=True)

    def _translated(self, function: Callable[..., Any], wanted: str, count: int) -> Made:
        key = _key(function)
        if key in self._open:
            raise Untranslatable("it calls itself: a definition takes no state")
        given = [e.Bound(name) for name in "xyzabc"[:count]] if count != 2 else [e.Bound("a"), e.Bound("b")]
        found = joined(function, list(given))
        if found is not None:
            return self._defined(wanted, tuple(each.name for each in given), found)
        self._open.append(key)
        try:
            parameters, body = self._read(function, count)
        finally:
            self._open.pop()
        return self._defined(_name(function) or wanted, parameters, body)

    def _defined(self, wanted: str, parameters: tuple[str, ...], body: e.Expression) -> Made:
        name = self.names.fresh(wanted)
        self.definitions.append(t.Define(name, parameters, body))
        return Made(name, external=False, answers=boolean(body))

    def _read(self, function: Callable[..., Any], count: int) -> tuple[tuple[str, ...], e.Expression]:
        """The parameters and the body of a function, from its text."""
        if isinstance(function, partial) or not hasattr(function, "__code__"):
            raise Untranslatable(f"{type(function).__name__}: only functions and lambdas are read")
        node = _tree(function)
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise Untranslatable("parameters with * or **")
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        expressions = Expressions(_World(self, function))
        env: dict[str, e.Expression] = {}
        parameters = []
        for place, name in enumerate(names):
            if place >= count:
                default = inspect.signature(function).parameters[name].default
                if default is inspect.Parameter.empty:
                    raise Untranslatable(f"it takes {len(names)} arguments, and is given {count}")
                env[name] = expressions.data(default)
            else:
                parameters.append(expressions.world.names.fresh(name))
                env[name] = e.Bound(parameters[-1])
        if len(parameters) != count:
            raise Untranslatable(f"it takes {len(names)} arguments, and is given {count}")
        if isinstance(node, ast.Lambda):
            return tuple(parameters), expressions.value(node.body, env)
        return tuple(parameters), Blocks(expressions).body(node.body, env)


class _World:
    """What a function knows of the world around it."""

    def __init__(self, functions: Functions, function: Callable[..., Any]) -> None:
        self.functions = functions
        self.names = Names()
        self.function: Any = function
        found = inspect.getclosurevars(function)
        self.known = {**vars(builtins), **found.globals, **found.nonlocals}

    def outside(self, name: str) -> Any:
        # A function that is named in an inner scope only, such as a comprehension, is found in the module.
        scope = getattr(self.function, "__globals__", {})
        if name not in self.known and (name not in scope or name in self.function.__code__.co_varnames):
            raise Untranslatable(f"the name {name}, which has no value yet")
        found = self.known[name] if name in self.known else scope[name]
        if not callable(found) and changed_later(self.function.__code__, name):
            raise Untranslatable(f"it reads {name}, which the program changes later")
        return found

    def call(
        self, function: Callable[..., Any], arguments: list[e.Expression], named: dict[str, e.Expression]
    ) -> e.Expression:
        if not callable(function):
            raise Untranslatable(f"a call of {function!r}")
        if named:
            try:
                bound = inspect.signature(function).bind(*arguments, **named)
            except (TypeError, ValueError):
                raise Untranslatable(f"named arguments of {getattr(function, '__name__', function)}") from None
            if bound.kwargs:
                raise Untranslatable(f"named arguments of {getattr(function, '__name__', function)}")
            arguments = list(bound.args)
        key = (_key(function), len(arguments))
        if key not in self.functions._known:
            # One that cannot be translated makes the function that calls it stay outside as a whole.
            name = _name(function) or "f"
            self.functions._known[key] = self.functions._translated(function, name, len(arguments))
        return self.functions._known[key](*arguments)


def _key(function: Any) -> Any:
    """Two closures of one function are two functions if what they close over differs."""
    code = getattr(function, "__code__", None)
    if code is None:
        return id(function)
    cells = getattr(function, "__closure__", None) or ()
    return code, tuple(id(cell.cell_contents) for cell in cells if _filled(cell)), repr(function.__defaults__)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _name(function: Any) -> str:
    name = getattr(function, "__name__", "")
    return "" if name == "<lambda>" or getattr(builtins, name, None) is function else str(name)


_ITERATORS = ("map", "filter", "zip", "enumerate", "iter", "reversed")


def _goes_through_once(function: Callable[..., Any], count: int) -> None:
    """Refuse a function that reads an iterator twice: it is empty then, and a list is not."""
    if getattr(function, "__code__", None) is None:
        return
    node = _tree(function)
    read = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)][count - 1 : count]
    names += [
        target.id
        for each in ast.walk(node)
        if isinstance(each, ast.Assign) and _is_iterator(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    ]
    for name in names:
        if read.count(name) > 1:
            raise Untranslatable(f"it reads the iterator {name} more than once")


def _is_iterator(node: ast.expr) -> bool:
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERATORS
    return made or isinstance(node, ast.GeneratorExp)


def _tree(function: Callable[..., Any]) -> ast.Lambda | ast.FunctionDef:
    text = source_of(function)
    if text is None:
        raise Untranslatable("its source is not known")
    try:
        tree = ast.parse(textwrap.dedent(text)) if not text.startswith("lambda") else ast.parse(f"({text})")
    except SyntaxError:
        raise Untranslatable("its source cannot be read") from None
    node = tree.body[0]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Lambda):
        return node.value
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return node
    raise Untranslatable("it is not a plain function: it has decorators, or is a coroutine or class")
