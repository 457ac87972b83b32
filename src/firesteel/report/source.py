"""What a user wrote, as source again: functions by their names or their text, formulas, and values.

It is for a test that is printed to be pasted. A function that has neither a name nor a text that can be shown gets a
name of its own, and a comment that says what to write for it: such a test fails until that is done.
"""

from __future__ import annotations

import ast
import dis
import inspect
import os
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import CodeType, FunctionType
from typing import Any

import firesteel.perturb as perturb
from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Historically,
    Implies,
    Intervals,
    Let,
    Next,
    Not,
    Once,
    Or,
    Previously,
    Release,
    Since,
    Until,
)
from firesteel.names import body_text, name_of, place_of, short
from firesteel.perturb.change import Given
from firesteel.values.dependence import Barrier, Both, Dependence, Depends, Either
from firesteel.values.durations import text as duration_text
from firesteel.values.equality import Equality

# What values are written with, and where it comes from.
_IMPORTS = {
    "datetime": "import datetime",
    "zoneinfo": "import zoneinfo",
    "Decimal": "from decimal import Decimal",
    "inf": "from math import inf",
    "nan": "from math import nan",
    "Row": "from pyspark.sql import Row",
    "VariantVal": "from pyspark.sql.types import VariantVal",
    "Geometry": "from pyspark.sql.types import Geometry",
    "Geography": "from pyspark.sql.types import Geography",
}
_OURS = frozenset({"Stream", "Batch", "Case", "Record", "tumbling", "sliding", "session_window"}) | frozenset(
    {"ordered", "unordered", "same_key", "equality"}
)


@dataclass
class Source:
    """What has been written so far, and what it needs."""

    imports: set[str] = field(default_factory=set)
    definitions: dict[str, str] = field(default_factory=dict)
    """Functions that stand inside other functions, by name."""
    missing: dict[str, str] = field(default_factory=dict)
    """Names that the user has to write something for, and what they stand for."""

    # --- functions ---

    def function(self, function: Callable[..., Any] | None, role: str) -> str:
        """A function as it can be written: by its name, or a lambda by its text."""
        text = self._lambda(function) if getattr(function, "__name__", "") == "<lambda>" else self._named(function)
        if text is not None:
            return text
        place = None if function is None else place_of(function)
        return self._lacking(role, role if function is None else ", ".join(filter(None, (name_of(function), place))))

    def _lacking(self, role: str, what: str) -> str:
        """A name that the user has to write something for."""
        same = (name for name, known in self.missing.items() if known == what)
        names = (role if not number else f"{role}_{number + 1}" for number in count())
        name = next(same, None) or next(name for name in names if name not in self.missing)
        self.missing[name] = what
        return name

    def _named(self, function: Any) -> str | None:
        name, module = getattr(function, "__name__", None), sys.modules.get(getattr(function, "__module__", None) or "")
        if name is None or module is None or not name.isidentifier():
            return None
        known = vars(module).get(name)
        if known is function or (isinstance(known, Atom) and known.predicate is function):
            self._need(name, module)
            return str(name)
        return self._inside(function, module)

    def _inside(self, function: Any, module: Any) -> str | None:
        """A function that stands inside another one, if it uses nothing of that."""
        if type(function) is not FunctionType or function.__code__.co_freevars:
            return None
        try:
            text = textwrap.dedent(inspect.getsource(function))
            (defined,) = ast.parse(text).body
        except (OSError, TypeError, SyntaxError, ValueError):
            return None
        if not isinstance(defined, ast.FunctionDef) or defined.name != function.__name__:
            return None
        self.definitions[defined.name] = text.rstrip()
        self._globals_of(function.__code__, module)
        return defined.name

    def _lambda(self, function: Any) -> str | None:
        code: CodeType = function.__code__
        body, arguments = body_text(code), ", ".join(code.co_varnames[: code.co_argcount])
        if body is None or code.co_freevars or function.__defaults__ or function.__kwdefaults__:
            return None
        # A closing bracket at the very end belongs to no instruction, so Python does not tell its place.
        for closing in ("", ")", "]", "))"):
            text = f"lambda {arguments}: {body}{closing}".replace("lambda :", "lambda:")
            if _means(text, code):
                self._globals_of(code, sys.modules.get(function.__module__))
                return text
        return None

    def _globals_of(self, code: CodeType, module: Any) -> None:
        """What a function takes from the module that it stands in."""
        for name in _names_in(code):
            if module is not None and name in vars(module):
                self._need(name, module)

    def _need(self, name: str, module: Any) -> None:
        if module.__name__ != "__main__" and not _is_this_test(getattr(module, "__file__", None)):
            value = vars(module)[name]
            if inspect.ismodule(value):
                self.imports.add(f"import {value.__name__} as {name}" if value.__name__ != name else f"import {name}")
            else:
                self.imports.add(f"from {module.__name__} import {name}")

    # --- formulas ---

    def formula(self, formula: Formula | None) -> str:
        """A formula, made anew from its parts."""
        match formula:
            case None:
                return self._lacking("formula", "the formula")
            case Constant(verdict):
                return f"fs.{verdict.name}"
            case Atom():
                return self._atom(formula)
            case Not(body):
                return f"~{self._operand(body)}"
            case And(parts):
                return " & ".join(map(self._operand, parts))
            case Or(parts):
                return " | ".join(map(self._operand, parts))
            case Let(body):
                return f"fs.let({self.function(body, 'body')})"
            case Consume(body):
                return f"fs.consume({self.function(body, 'body')})"
            case Intervals(whole, predicates):
                named = zip(sorted(whole.names), predicates, strict=True)
                given = "".join(f", {name}={self.function(atom.predicate, name)}" for name, atom in named)
                return f"fs.pptl({str(whole)!r}{given})"
            case _:
                return self._temporal(formula)

    def _temporal(self, formula: Formula) -> str:
        match formula:
            case Implies(first, second):
                return f"fs.implies({self._argument(first)}, {self._argument(second)})"
            case Next(body, times):
                return f"fs.next_({self._argument(body)}{'' if times == 1 else f', times={times}'})"
            case Always(body, bound) | Historically(body, bound):
                return f"fs.{_word(formula)}({self._argument(body)}{_bound('during', bound)})"
            case Eventually(body, bound) | Once(body, bound):
                return f"fs.{_word(formula)}({self._argument(body)}{_bound('within', bound)})"
            case Release(first, second, bound):
                return f"fs.release({self._argument(first)}, {self._argument(second)}{_bound('during', bound)})"
            case Until(first, second, bound) | Since(first, second, bound):
                return (
                    f"fs.{_word(formula)}({self._argument(first)}, {self._argument(second)}{_bound('within', bound)})"
                )
            case Previously(body):
                return f"fs.previously({self._argument(body)})"
            case _:
                raise AssertionError(f"no source for {type(formula).__name__}")

    def _argument(self, formula: Formula) -> str:
        """A formula where a function may stand as well."""
        if isinstance(formula, Atom) and formula.given_name is None:
            return self.function(formula.predicate, "predicate")
        return self.formula(formula)

    def _operand(self, formula: Formula) -> str:
        text = self.formula(formula)
        return f"({text})" if isinstance(formula, (And, Or)) else text

    def _atom(self, atom: Atom) -> str:
        text = self.function(atom.predicate, "predicate")
        module = sys.modules.get(getattr(atom.predicate, "__module__", None) or "")
        if module is not None and vars(module).get(text) == atom:
            return text  # the name of the formula itself
        name = "" if atom.given_name is None else f", name={atom.given_name!r}"
        return f"fs.now({text}{name})"

    # --- values ---

    def value(self, value: Any, role: str) -> str:
        """A value whose text evaluates; what holds a function is written with that."""
        match value:
            case tuple() if type(value) is tuple:
                return f"[{', '.join(self.value(item, role) for item in value)}]"
            case Barrier(predicate):
                return f"fs.barrier({self.function(predicate, 'predicate')})"
            case Depends(function):
                return f"fs.depends({self.function(function, 'depends')})"
            case Either(a, b):
                return f"{self.value(a, role)} | {self.value(b, role)}"
            case Both(a, b):
                return " & ".join(self._both(part, role) for part in (a, b))
            case perturb.Perturbation(calls):
                return " & ".join(self._perturbation(kind.name, given) for kind, given in calls)
            case Formula():
                return self.formula(value)
            case Equality(by=by) if by is not None:
                # With a function there are no tolerances, but columns may be left out.
                ignored = f"ignore={list(value.ignore)!r}, " if value.ignore else ""
                return f"fs.equality({ignored}by={self.function(by, 'by')})"
            case _:
                return self.text(repr(value), role)

    def _perturbation(self, name: str, given: Given) -> str:
        if given.keeping is None:
            return self.text(f"{name}({given})", name)
        self.imports.add("from firesteel import perturb")
        return f"perturb.{name}(keeping={self.value(given.keeping, 'keeping')})"

    def _both(self, part: Dependence, role: str) -> str:
        text = self.value(part, role)
        return f"({text})" if isinstance(part, Either) else text

    def text(self, text: str, role: str) -> str:
        """The text of a value, with firesteel's names written as a test writes them."""
        try:
            tree = _Named(self.imports).visit(ast.parse(text, mode="eval"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return self._lacking(role, short(text))
        return ast.unparse(tree)


class _Named(ast.NodeTransformer):
    """Writes `fs.` and `perturb.` before firesteel's names, and takes note of other names' imports."""

    def __init__(self, imports: set[str]) -> None:
        self._imports = imports

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in _OURS:
            return ast.Attribute(ast.Name("fs"), node.id)
        if node.id in _IMPORTS:
            self._imports.add(_IMPORTS[node.id])
        elif hasattr(perturb, node.id):
            self._imports.add("from firesteel import perturb")
            return ast.Attribute(ast.Name("perturb"), node.id)
        return node


def option(source: Source, name: str, value: Any) -> str:
    """An option of a run, as it is written."""
    text = repr(duration_text(value)) if name == "batch_interval" else source.value(value, name)
    return f"{name}={text}"


def _word(formula: Formula) -> str:
    return type(formula).__name__.lower()


def _bound(word: str, bound: int | None) -> str:
    return "" if bound is None else f", {word}={bound}"


def _means(text: str, code: CodeType) -> bool:
    """Does a lambda of this text do what the code does, instruction by instruction?"""
    try:
        made = compile(text, "<text>", "eval").co_consts[0]
    except (SyntaxError, ValueError):
        return False
    return isinstance(made, CodeType) and _shape(made) == _shape(code)


def _shape(code: CodeType) -> list[tuple[Any, ...]]:
    """The instructions of a function. How an attribute is called depends on the imports of its module, so not that."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("PUSH_NULL", "CACHE")]
    numbers = {step.offset: number for number, step in enumerate(steps)}
    return [(_METHODS.get(step.opname, step.opname), *_operand_of(step, numbers)) for step in steps]


_METHODS = {"LOAD_METHOD": "LOAD_ATTR"}


def _operand_of(step: dis.Instruction, numbers: Mapping[int, int]) -> tuple[Any, ...]:
    if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
        return (numbers.get(step.argval, -1),)
    if isinstance(step.argval, CodeType):
        return ("function", _shape(step.argval))
    return type(step.argval), step.argval


def _names_in(code: CodeType) -> list[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *(name for each in inner for name in _names_in(each))]


def _is_this_test(file: str | None) -> bool:
    """Is it the file of the test that is running? There the printed test will be pasted."""
    running = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    return bool(running) and file is not None and os.path.abspath(file).endswith(os.sep + os.path.normpath(running))
