"""What a user's Python function keeps between calls, told by its code: cases that share a query would share it too.

The code is read, never run. It shows what is changed by name: a variable of a closure, a global, an attribute of a
class or of the function's own object; an iterator, which moves on; an accumulator; a file or a connection. What is
changed by way of another name is not seen here. For that there are the cases that are run alone as well.
"""

from __future__ import annotations

import builtins
import dis
import functools
import io
import pickle
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

# Methods that change what they belong to.
_CHANGING = frozenset(
    {"append", "appendleft", "add", "update", "setdefault", "pop", "popitem", "popleft", "extend", "extendleft",
     "insert", "remove", "discard", "clear", "subtract", "sort", "reverse", "write", "put"}
)  # fmt: skip
_STORES = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})
# Modules that reach out of Spark, or whose answers differ from call to call.
_OUTSIDE = frozenset(
    {"socket", "sqlite3", "urllib", "http", "requests", "redis", "shelve", "dbm", "subprocess", "multiprocessing",
     "boto3", "psycopg2", "pymysql", "pymongo", "kafka"}
)  # fmt: skip
_CHANCE = frozenset({"random", "secrets"})
_UNCHANGING = (
    int, float, complex, str, bytes, bool, tuple, frozenset, range, type(None), ModuleType, FunctionType,
    BuiltinFunctionType,
)  # fmt: skip


class Counting:
    """Stands for an accumulator of the function's."""


class Variable:
    """Stands for a broadcast variable, which no function changes."""


class _Reading(pickle.Unpickler):
    """Reads a pickled function on the driver, where broadcast variables cannot be looked up."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("pyspark"):
            if name == "_from_id":
                return lambda number: Variable()
            if name == "_deserialize_accumulator":
                return lambda number, zero, param: Counting()
        return super().find_class(module, name)


def kept_by_pickled(command: bytes) -> str | None:
    """What a function keeps, as Spark pickled it; None where nothing is seen, or the function cannot be read."""
    try:
        read = _Reading(io.BytesIO(command)).load()
    except Exception:  # a module that only the executors have, or a format of another version
        return None
    return kept_by(read[0]) if isinstance(read, tuple) and read else None


def kept_by(function: Any) -> str | None:
    """What a function keeps between calls, in words; None where nothing is seen.

    >>> seen = []
    >>> kept_by(lambda n: seen.append(n) or len(seen))
    "keeps 'seen' between calls"
    >>> kept_by(lambda n: sorted(seen))
    """
    return next(_reasons(function, set()), None)


def _reasons(function: Any, done: set[int]) -> Iterator[str]:
    """Reasons, of a function and of what it calls of the user's own."""
    if id(function) in done:
        return
    done.add(id(function))
    match function:
        case functools.partial():
            yield from _reasons(function.func, done)
        case MethodType():
            own = function.__self__
            processor = getattr(own, "_stateful_processor", None)
            if processor is None:
                yield from _of_method(own, function.__func__.__name__, done)
            else:  # Spark's own, around the user's processor
                for name in ("handleInputRows", "handleExpiredTimer"):
                    yield from _of_method(processor, name, done)
        case FunctionType():
            yield from _of_code(function, done)
        case type() | BuiltinFunctionType():
            return
        case _:
            yield from _of_method(function, "__call__", done)


def _of_method(own: Any, name: str, done: set[int]) -> Iterator[str]:
    method = getattr(type(own), name, None)
    if isinstance(method, FunctionType) and id(method) not in done:
        done.add(id(method))
        yield from _of_code(method, done, own)


def _of_code(function: FunctionType, done: set[int], own: Any = None) -> Iterator[str]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    free = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    held = _Held(free, function.__globals__, own, {} if own is None else {function.__code__.co_varnames[0]: own})
    for code in _with_inner(function.__code__):
        yield from _Code(code, held).reasons()
        for value in held.used_in(code):
            if isinstance(value, FunctionType) and _is_users(value):
                yield from _reasons(value, done)
            elif not isinstance(value, (type, *_UNCHANGING)) and _is_users(type(value)):
                for name in code.co_names:
                    yield from _of_method(value, name, done)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a name that has no value yet
        return False


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


@functools.cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def _is_users(value: Any) -> bool:
    """Is a function, or a class, not part of an installed library?"""
    if isinstance(value, FunctionType):
        return not value.__code__.co_filename.startswith(_installed())
    methods = [each for each in vars(value).values() if isinstance(each, FunctionType)]
    return any(map(_is_users, methods))


@dataclass(frozen=True)
class _Held:
    """The values that outlive a call, by the names that code has for them."""

    free: Mapping[str, Any]
    module: Mapping[str, Any]
    own: Any
    local: Mapping[str, Any]
    """The name of the function's own object."""

    def named_in(self, instruction: dis.Instruction) -> tuple[str, Any] | None:
        """The held value that an instruction loads, with its name."""
        name = instruction.argval
        match instruction.opname:
            case "LOAD_GLOBAL" | "LOAD_NAME" if name in self.module:
                return name, self.module[name]
            case "LOAD_GLOBAL" | "LOAD_NAME" if hasattr(builtins, name):
                return name, getattr(builtins, name)
            case "LOAD_DEREF" | "LOAD_CLASSDEREF" if name in self.free:
                return name, self.free[name]
            case "LOAD_FAST" if name in self.local:
                return name, self.local[name]
        return None

    def used_in(self, code: CodeType) -> Iterator[Any]:
        for instruction in dis.get_instructions(code):
            found = self.named_in(instruction)
            if found is not None:
                yield found[1]


@dataclass
class _Code:
    """One code object. An expression is known by where it starts in the source: so is the name that it starts with."""

    code: CodeType
    held: _Held
    _starts: dict[tuple[int | None, int | None], tuple[str, Any]] = field(default_factory=dict)

    def reasons(self) -> Iterator[str]:
        for instruction in dis.get_instructions(self.code):
            found = self.held.named_in(instruction)
            if found is not None:
                yield from _of_value(*found)
                self._starts[_start(instruction)] = found
                continue
            yield from self._of_instruction(instruction)

    def _of_instruction(self, instruction: dis.Instruction) -> Iterator[str]:
        name = instruction.argval
        match instruction.opname:
            case "STORE_GLOBAL" | "DELETE_GLOBAL":
                yield _keeps(name)
            case "STORE_DEREF" | "DELETE_DEREF" if name in self.held.free:
                yield _keeps(name)
            case "IMPORT_NAME":
                yield from _of_module(str(name).partition(".")[0])
            case "LOAD_ATTR" | "LOAD_METHOD":
                yield from self._of_attribute(instruction, str(name))
            case kind if kind.startswith("CALL"):
                self._starts.pop(_start(instruction), None)  # what a call answers is not known
            case kind if kind in _STORES and _start(instruction) in self._starts:
                yield _keeps(self._starts[_start(instruction)][0])

    def _of_attribute(self, instruction: dis.Instruction, name: str) -> Iterator[str]:
        start = _start(instruction)
        if start not in self._starts:
            return
        base, value = self._starts[start]
        if name in _CHANGING and value is not _MADE_LATER and not isinstance(value, (type, *_UNCHANGING)):
            yield _keeps(base)
        # From here on the expression is the attribute. One that is made later, as state that Spark keeps, is not known.
        self._starts[start] = base, _attribute(value, name)


_MADE_LATER = object()


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, ModuleType):
        return getattr(value, name, _MADE_LATER)
    return getattr(value, "__dict__", {}).get(name, _MADE_LATER)


def _start(instruction: dis.Instruction) -> tuple[int | None, int | None]:
    at = instruction.positions
    return (None, None) if at is None else (at.lineno, at.col_offset)


def _of_value(name: str, value: Any) -> Iterator[str]:
    """What can be told by a value alone."""
    if isinstance(value, Counting):
        yield "counts in an accumulator, for all cases together"
    elif value is open:
        yield "reads or writes a file, outside of Spark"
    elif isinstance(value, ModuleType):
        yield from _of_module(value.__name__.partition(".")[0])
    elif isinstance(value, (Random, Iterator)) or type(value).__module__.startswith("numpy.random"):
        yield _keeps(name)


def _of_module(name: str) -> Iterator[str]:
    if name in _OUTSIDE:
        yield f"uses {name}, which reaches outside of Spark"
    elif name in _CHANCE:
        yield f"uses {name}, so that it is not deterministic"


def _keeps(name: Any) -> str:
    return f"keeps {str(name)!r} between calls"
