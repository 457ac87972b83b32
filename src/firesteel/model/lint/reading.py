"""What a user's function does besides computing, read from its bytecode: clocks, random numbers, state of its own.

Names are resolved to the objects that they stand for, so `from time import time as now` is seen as well. A function is
never called.
"""

from __future__ import annotations

import ast
import builtins
import dis
import importlib
import os
import random
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from firesteel.values.sources import source_of


class Cause(Enum):
    """Why a function may give something else when it is called again."""

    CLOCK = "the clock"
    RANDOM = "random numbers"
    MACHINE = "the process that it runs in"


@dataclass(frozen=True)
class Seen:
    """Something in a function that hangs on luck."""

    cause: Cause
    what: str
    """As a user knows it: `random.random`, `datetime.now`."""


_LIBRARIES = tuple({os.path.realpath(path) + os.sep for path in (sys.prefix, sys.base_prefix)})
_KNOWN_MODULES = frozenset({"random", "time", "datetime", "uuid", "secrets", "os", "socket", "numpy", "numpy.random"})
_CLOCKS = {
    "time": ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"),
    "datetime": ("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    "uuid": ("uuid1",),
}
_NOW_IF_EMPTY = (time.localtime, time.gmtime, time.ctime, time.asctime)
_RANDOM = {
    "uuid": ("uuid4",),
    "os": ("urandom", "getrandom"),
    "secrets": ("token_bytes", "token_hex", "token_urlsafe", "choice", "randbelow", "randbits"),
}
_MACHINE = {"os": ("getpid", "getppid"), "socket": ("gethostname", "getfqdn")}
_KEEPING_QUIET = frozenset({"PUSH_NULL", "PRECALL", "CACHE", "RESUME", "COPY_FREE_VARS", "NOP"})
_CHANGING = frozenset(
    {"append", "extend", "add", "update", "pop", "setdefault", "insert", "clear", "remove", "discard"}
)
_STATES = {"getValueState": 2, "getListState": 2, "getMapState": 3}
"""How many arguments these take without a time to live."""
_MUTABLE = (list, dict, set, bytearray)


def causes_in(function: Callable[..., Any]) -> tuple[Seen, ...]:
    """What in a function, or in the user's functions that it calls, hangs on luck.

    >>> import time
    >>> causes_in(lambda x: (x, time.time()))
    (Seen(cause=<Cause.CLOCK: 'the clock'>, what='time.time'),)
    >>> causes_in(lambda x: (x, random.Random(x).random()))
    ()
    """
    if isinstance(function, type) and callable(method := getattr(function, "eval", None)):
        function = method  # the handler of a table function
    found: dict[Seen, None] = {}
    seeded = False
    for reference in _references(function):
        if _is_seeding(reference.object) and reference.arguments != 0:
            seeded = True
        elif (seen := _cause_of(reference)) is not None:
            found[seen] = None
    return tuple(seen for seen in found if not (seeded and seen.what.startswith(("random.", "numpy.random"))))


def accumulators_in(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of Spark's accumulators that a function uses."""
    found = [
        one.name
        for one in _references(function)
        if any(_is_of(each, "pyspark.accumulators", "Accumulator") for each in (one.object, one.owner))
    ]
    return tuple(dict.fromkeys(found))


def state_in(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of variables outside of a function that it changes.

    >>> seen = []
    >>> state_in(lambda x: seen.append(x))
    ('seen',)
    >>> state_in(lambda x: x + 1)
    ()
    """
    plain = _plain(function)
    if not isinstance(plain, FunctionType):
        return ()
    found: dict[str, None] = {}
    for code, _ in _codes(plain):
        for each in dis.get_instructions(code):
            if each.opname == "STORE_GLOBAL" or (
                each.opname == "STORE_DEREF" and each.argval in plain.__code__.co_freevars
            ):
                found[str(each.argval)] = None
    for one in _references(plain, own=True):
        if one.attribute in _CHANGING and isinstance(one.owner, _MUTABLE):
            found[one.name] = None
    around = outside(plain)
    own = {name for code, _ in _codes(plain) for name in (*code.co_varnames, *code.co_cellvars)}
    for name in _stored_into(plain):
        if name not in own and isinstance(around.get(name), _MUTABLE):
            found[name] = None
    return tuple(found)


def uses_parameter(function: Callable[..., Any], place: int) -> bool:
    """Does a function look at its parameter in one place? True where that cannot be known."""
    plain = _plain(function)
    if not isinstance(plain, FunctionType) or plain.__code__.co_argcount <= place:
        return True
    place += isinstance(function, MethodType)
    name = plain.__code__.co_varnames[place]
    loads = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")
    return any(
        each.opname.startswith(loads)
        and (each.argval == name or (isinstance(each.argval, tuple) and name in each.argval))
        for code, _ in _codes(plain)
        for each in dis.get_instructions(code)
    )


def words_in(function: Callable[..., Any]) -> frozenset[str]:
    """The names of methods that a function calls, and the texts that it holds."""
    plain = _plain(function)
    if not isinstance(plain, FunctionType):
        return frozenset()
    found: set[str] = set()
    for code, _ in _codes(plain):
        found |= {*code.co_names, *(one for one in code.co_consts if isinstance(one, str))}
    return frozenset(found)


def hides_names(function: Callable[..., Any]) -> bool:
    """Does a function ask objects that reading cannot look into: `getattr`, or methods of an object outside of it?

    >>> draws = random.Random(7)
    >>> hides_names(lambda x: x + draws.random()), hides_names(lambda x: x + random.random())
    (True, False)
    """
    return any(
        any(one.object is each for each in (getattr, eval, exec))
        or (
            one.attribute != ""
            and one.owner is not None
            and not isinstance(one.owner, ModuleType | type | FunctionType)
            and type(one.owner).__module__.partition(".")[0] not in ("builtins", "re", "pyspark", "numpy", "pandas")
        )
        for one in _references(function)
    )


def attributes_in(function: Callable[..., Any]) -> frozenset[str]:
    """The attributes that a function reads; `name()` for a method that it calls.

    >>> sorted(attributes_in(lambda frame, number: frame.write.json("there")))
    ['json()', 'write']
    """
    plain = _plain(function)
    if not isinstance(plain, FunctionType):
        return frozenset()
    return frozenset(
        f"{each.argval}()" if each.opname == "LOAD_METHOD" or "NULL|self" in each.argrepr else str(each.argval)
        for code, _ in _codes(plain)
        for each in dis.get_instructions(code)
        if each.opname in ("LOAD_ATTR", "LOAD_METHOD")
    )


def gives_none(function: Callable[..., Any]) -> bool | None:
    """May a function give None, as far as its text says? None where there is no text.

    >>> gives_none(lambda new, old: sum(new) + (old or 0)), gives_none(lambda new, old: sum(new) or None)
    (False, True)
    """
    tree = parsed(function)
    if tree is None:
        return None
    nodes = list(ast.walk(tree))
    results = [one.body for one in nodes if isinstance(one, ast.Lambda)]
    returns = [one for one in nodes if isinstance(one, ast.Return)]
    if any(one.value is None for one in returns) or not (results or returns):
        return True
    results += [one.value for one in returns if one.value is not None]
    return any(isinstance(part, ast.Constant) and part.value is None for one in results for part in ast.walk(one))


def forgets(processor: Any) -> bool | None:
    """Does a processor of `transformWithState` clear its state, set timers or give it a time to live?

    None where that cannot be known.
    """
    if processor is None:
        return None
    methods = [each for each in vars(type(processor)).values() if isinstance(each, FunctionType)]
    trees = [parsed(each) for each in methods]
    if not trees or None in trees or len(type(processor).__mro__) > 4:  # it inherits from others than Spark's class
        return None
    calls = [node for tree in trees if tree is not None for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if not any(isinstance(call.func, ast.Attribute) and call.func.attr in _STATES for call in calls):
        return None  # it keeps no state, or hands the handle on
    return any(_forgets(call) for call in calls)


def _forgets(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="clear" | "removeKey" | "deleteIfExists" | "registerTimer")):
            return True
        case ast.Call(func=ast.Attribute(attr=name)) if name in _STATES:
            named = {one.arg for one in call.keywords}
            return len(call.args) > _STATES[name] or not named.isdisjoint({"ttlDurationMs", None})
        case _:
            return False


# --- what names stand for ---


@dataclass(frozen=True)
class _Reference:
    name: str
    object: Any
    attribute: str = ""
    """The last attribute, and what it was asked of."""
    owner: Any = None
    arguments: int | None = None
    """How many arguments it is called with, where that is plain: none, or one that is a constant or a variable."""


def _plain(function: Any) -> Any:
    """The function of Python's behind a partial, a method, a callable object or a wrapper."""
    for _ in range(10):
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, FunctionType):
            inner = getattr(function, "__wrapped__", None)
            if inner is None:
                return function
            function = inner
        elif isinstance(function, BuiltinFunctionType | type):
            return function
        elif callable(function):
            function = type(function).__call__
        else:
            return function
    return function


def _references(function: Any, *, own: bool = False) -> Iterator[_Reference]:
    """The objects that a function refers to; also those of the user's functions that it calls, unless `own`."""
    waiting, seen = [_plain(function)], set[int]()
    if not isinstance(waiting[0], FunctionType) and waiting[0] is not None:
        yield _Reference(getattr(waiting[0], "__name__", ""), waiting[0])
        return
    while waiting:
        plain = waiting.pop()
        if id(plain) in seen:
            continue
        seen.add(id(plain))
        for code, names in _codes(plain):
            for one in _in_code(code, names, plain.__code__.co_freevars):
                yield one
                inner = _plain(one.object) if isinstance(one.object, FunctionType | partial | MethodType) else None
                if not own and isinstance(inner, FunctionType) and not _of_library(inner.__code__.co_filename):
                    waiting.append(inner)


def _codes(function: FunctionType) -> Iterator[tuple[CodeType, Mapping[str, Any]]]:
    """The code of a function and of those inside it, with what names stand for."""
    names, waiting = outside(function), [function.__code__]
    while waiting:
        code = waiting.pop()
        yield code, names
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]


def outside(function: FunctionType) -> Mapping[str, Any]:
    """The globals and the variables of outer functions, by their names."""
    held: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue
    return {**function.__globals__, **held}


def _in_code(code: CodeType, names: Mapping[str, Any], captured: Collection[str]) -> Iterator[_Reference]:
    now: _Reference | None = None
    called: _Reference | None = None
    imported: dict[str, Any] = {}
    module: Any = None
    for each in dis.get_instructions(code):
        name, was = each.argval, now
        if each.opname in _KEEPING_QUIET:
            continue
        if each.opname == "CALL" and (callee := {0: was, 1: called}.get(each.arg or 0)) is not None:
            yield replace(callee, arguments=each.arg)
            now = called = None
            continue
        called = was if each.opname.startswith(("LOAD_CONST", "LOAD_FAST")) else None
        if was is not None and each.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            yield was
        now = None
        match each.opname:
            case "LOAD_GLOBAL" | "LOAD_NAME":
                now = _Reference(name, imported.get(name, names.get(name, getattr(builtins, str(name), None))))
            case "LOAD_DEREF" | "LOAD_CLOSURE" | "LOAD_FAST" | "LOAD_FAST_BORROW" | "LOAD_FAST_CHECK":
                found = imported.get(name, names.get(name) if name in captured and "FAST" not in each.opname else None)
                now = _Reference(name, found) if found is not None else None
            case "LOAD_ATTR" | "LOAD_METHOD" if was is not None:
                now = _Reference(was.name, _attribute(was.object, str(name)), str(name), was.object)
            case "IMPORT_NAME":
                module = _module(str(name))
            case "IMPORT_FROM":
                imported["*"] = getattr(module, str(name), None)
            case "STORE_FAST" | "STORE_DEREF" | "STORE_NAME" | "STORE_GLOBAL":
                if "*" in imported:
                    imported[str(name)] = imported.pop("*")
                elif module is not None:
                    imported[str(name)], module = module, None
                else:
                    imported.pop(str(name), None)
            case _:
                pass
    if now is not None:
        yield now


def _attribute(owner: Any, name: str) -> Any:
    """An attribute of a module or class. Other objects are not asked, as that could run code of theirs."""
    return getattr(owner, name, None) if isinstance(owner, ModuleType | type) else None


def _module(name: str) -> Any:
    """A module that a function imports, if it is loaded already or harmless to load."""
    if name in sys.modules:
        return sys.modules[name]
    if name in _KNOWN_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    return None


def _of_library(path: str) -> bool:
    return os.path.realpath(path).startswith(_LIBRARIES) or path.startswith("<frozen")


# --- what hangs on luck ---


def _cause_of(reference: _Reference) -> Seen | None:
    one = reference.object
    if one is None or isinstance(one, ModuleType):
        return None
    for cause, what, known in _known():
        if one is known or (type(one) is type(known) and one == known):
            return Seen(cause, what)
    owner = getattr(one, "__self__", None)
    if owner is random._inst or isinstance(owner, random.SystemRandom):
        name = getattr(one, "__name__", "")
        return None if name in ("seed", "getstate", "setstate") else Seen(Cause.RANDOM, f"random.{name}")
    if reference.arguments == 0 and any(one is each for each in (random.Random, random.SystemRandom)):
        return Seen(Cause.RANDOM, f"random.{one.__name__}()")
    reads_clock = {0: _NOW_IF_EMPTY, 1: (time.strftime,)}.get(
        -1 if reference.arguments is None else reference.arguments
    )
    if any(one is each for each in reads_clock or ()):
        return Seen(Cause.CLOCK, f"time.{one.__name__}")
    pandas = sys.modules.get("pandas")
    if pandas is not None and owner is pandas.Timestamp and one.__name__ in ("now", "today", "utcnow"):
        return Seen(Cause.CLOCK, f"pandas.Timestamp.{one.__name__}")
    return _numpy_cause(reference, owner)


def _numpy_cause(reference: _Reference, owner: Any) -> Seen | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    shared = getattr(getattr(numpy.random, "mtrand", None), "_rand", None)
    name = getattr(reference.object, "__name__", "")
    if shared is not None and owner is shared and name not in ("seed", "get_state", "set_state"):
        return Seen(Cause.RANDOM, f"numpy.random.{name}")
    if reference.arguments == 0 and reference.object is numpy.random.default_rng:
        return Seen(Cause.RANDOM, "numpy.random.default_rng()")
    return None


def _is_seeding(one: Any) -> bool:
    owner, name = getattr(one, "__self__", None), getattr(one, "__name__", "")
    numpy = sys.modules.get("numpy")
    shared = getattr(getattr(numpy.random, "mtrand", None), "_rand", None) if numpy is not None else None
    return name == "seed" and (owner is random._inst or (shared is not None and owner is shared))


@lru_cache(maxsize=1)
def _known() -> tuple[tuple[Cause, str, Any], ...]:
    tables = ((Cause.CLOCK, _CLOCKS), (Cause.RANDOM, _RANDOM), (Cause.MACHINE, _MACHINE))
    return tuple(
        (cause, what if "." in what else f"{module}.{what}", found)
        for cause, table in tables
        for module, names in table.items()
        for what in names
        if (found := _path(importlib.import_module(module), what)) is not None
    )


def _path(owner: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        owner = getattr(owner, name, None)
    return owner


def _is_of(one: Any, module: str, name: str) -> bool:
    """Is it an object of a class, which does not have to be imported for the question?"""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(one, kind)


def _stored_into(function: FunctionType) -> Iterable[str]:
    """The names of what a function stores something into: `x` of `x[k] = 1` and of `x.y += 1`."""
    tree = parsed(function)
    for node in ast.walk(tree) if tree is not None else ():
        targets: list[ast.expr] = []
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                pass
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                targets = [target]
            case _:
                continue
        for given in targets:
            base: ast.expr = given
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name) and base is not given:
                yield base.id


def parsed(function: Callable[..., Any]) -> ast.AST | None:
    """The tree of a function's text; None where there is no text."""
    text = source_of(function)
    if text is None:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
