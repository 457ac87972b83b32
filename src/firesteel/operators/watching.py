"""What a function does besides returning: the lines it runs, what it changes, what it opens. In the worker's child."""

from __future__ import annotations

import os
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from firesteel.operators.kinds import inner_function
from firesteel.operators.outcomes import Watched

_LIBRARIES = tuple({os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix), "/usr/share/zoneinfo"})
_OPENING = {
    "open": "opened the file",
    "socket.connect": "connected to",
    "socket.bind": "listened on",
    "subprocess.Popen": "started the process",
    "os.system": "started the process",
    "os.mkdir": "made the folder",
    "os.remove": "removed the file",
}
"""What a function may do besides, by Python's name for it. What a socket is asked stands second among the arguments."""
_DATA = (int, float, str, bytes, bool, type(None), list, dict, set, tuple, frozenset)


def codes_of(functions: Iterable[Callable[..., Any]]) -> list[types.CodeType]:
    """The code of the user's functions, of the functions inside them, and of those that they call by name."""
    found: dict[types.CodeType, None] = {}
    waiting: list[Any] = list(functions)
    seen: set[int] = set()
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        code = function if isinstance(function, types.CodeType) else None
        if code is None and callable(function):
            function = inner_function(function)
            code = getattr(function, "__code__", None)
            if isinstance(code, types.CodeType):
                waiting += _called_by(function, code)
        if isinstance(code, types.CodeType) and code not in found:
            found[code] = None
            waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return list(found)


def _called_by(function: Any, code: types.CodeType) -> Iterator[Any]:
    """The functions of Python's that a function refers to, if they are not of a library."""
    names = getattr(function, "__globals__", {})
    for name in _names(code):
        value = names.get(name)
        if isinstance(value, types.FunctionType) and not _of_library(value.__code__.co_filename):
            yield value
        elif isinstance(value, type):
            yield from _methods(value)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, types.FunctionType):
            yield value


def _methods(value: type) -> Iterator[Any]:
    """The functions of a class, if it is not of a library."""
    for each in vars(value).values():
        if isinstance(each, types.FunctionType) and not _of_library(each.__code__.co_filename):
            yield each


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names(each)


def _of_library(path: str) -> bool:
    return os.path.realpath(path).startswith(_LIBRARIES)


_numbers: dict[tuple[int, ...], dict[types.CodeType, int]] = {}
"""The codes of the functions that are traced in this process."""


class Lines:
    """The steps from line to line in the user's functions: what a run reached that others did not."""

    def __init__(self, functions: Sequence[Callable[..., Any]]) -> None:
        self.found: set[tuple[int, int]] = set()
        key = tuple(map(id, functions))  # they are not collected: the worker holds its operator
        if key not in _numbers:
            _numbers[key] = {code: number for number, code in enumerate(codes_of(functions))}
        self._codes = _numbers[key]

    def start(self) -> None:
        sys.settrace(self._enter)

    def stop(self) -> None:
        sys.settrace(None)

    def _enter(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if frame.f_code not in self._codes:
            return None
        number = self._codes[frame.f_code] * 100_000
        before = 0

        def step(frame: types.FrameType, event: str, argument: Any) -> Any:
            nonlocal before
            line = number + frame.f_lineno if event == "line" else number
            self.found.add((before, line))
            before = line
            return step

        return step


class Watch:
    """What is changed or opened while the function runs."""

    def __init__(self, functions: Sequence[Callable[..., Any]]) -> None:
        self._functions = functions
        self._mutated: list[str] = []
        self._written: list[str] = []
        self._opened: list[str] = []
        self._given, self._shown = b"", ""
        self._frames: list[tuple[Any, bytes, str]] = []
        self._state: dict[str, bytes] = {}
        _listen()

    def before(self, given: Any) -> None:
        self._given, self._shown = _form(given), _given_shown(given)
        self._state = dict(self._owned())
        _watching.append(self._opened)

    def frame(self, value: Any) -> Any:
        """A pandas object that is about to be given to the function."""
        self._frames.append((value, _form_of_frame(value), _frame_shown(value)))
        return value

    def after(self, given: Any) -> None:
        _watching.clear()
        if self._given and _form(given) != self._given:
            self._mutated.append(f"{self._shown} became {_given_shown(given)}")
        for frame, form, shown in self._frames:
            if form and _form_of_frame(frame) != form:
                self._mutated.append(f"{shown} became {_frame_shown(frame)}")
        self._frames.clear()
        now = dict(self._owned())
        self._written += [name for name, form in now.items() if self._state.get(name) != form]

    def seen(self) -> Watched:
        return Watched(*(tuple(dict.fromkeys(each)) for each in (self._mutated, self._written, self._opened)))

    def _owned(self) -> Iterator[tuple[str, bytes]]:
        """Every variable outside that the functions could change, and what it holds."""
        for function in self._functions:
            for holder in (getattr(function, "__self__", None), function):
                if holder is not None and not isinstance(holder, types.ModuleType | type):
                    for name, value in list(getattr(holder, "__dict__", {}).items()):
                        yield from _noted(f"attribute {name}", value)
            inner = inner_function(function)
            code = getattr(inner, "__code__", None)
            if not isinstance(code, types.CodeType):
                continue
            for name in dict.fromkeys(_names(code)):
                if name in inner.__globals__:
                    yield from _noted(f"global {name}", inner.__globals__[name])
            for name, cell in zip(code.co_freevars, inner.__closure__ or (), strict=False):
                try:
                    yield from _noted(f"closure variable {name}", cell.cell_contents)
                except ValueError:
                    continue
            for value in (*(inner.__defaults__ or ()), *(inner.__kwdefaults__ or {}).values()):
                yield from _noted("a default value", value)


_watching: list[list[str]] = []
"""Where what is opened is noted, while a function is watched."""
_listens: list[bool] = []


def _listen() -> None:
    """Hear of what is opened from now on. An audit hook stays as long as its process, so there is one."""
    if not _listens:
        _listens.append(True)
        sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching or event not in _OPENING:
        return
    opened = _watching.pop()  # what is looked at here is not the function's doing
    try:
        if not _is_import(sys._getframe(1)) and not _harmless(event, arguments):
            what = arguments[1 if event.startswith("socket") else 0] if arguments else ""
            opened.append(f"{_OPENING[event]} {what if isinstance(what, str) else repr(what)}"[:1000])
    finally:
        _watching.append(opened)


def _noted(name: str, value: Any) -> Iterator[tuple[str, bytes]]:
    if isinstance(value, _DATA) or type(value).__module__ == "collections":
        form = _form(value)
        if form:
            yield name, form


def _form(value: Any) -> bytes:
    """Something that changes if the value does; nothing where that cannot be said."""
    try:
        return _plain(value)
    except Exception:
        return b""


def _form_of_frame(frame: Any) -> bytes:
    """The same of a pandas object: its cells, index, names and types, not how pandas holds them."""
    try:
        names = list(frame.columns) if hasattr(frame, "columns") else [frame.name]
        types = [str(each) for each in (frame.dtypes if hasattr(frame, "columns") else [frame.dtype])]
        return _plain([repr(names), types, repr(list(frame.index)), frame.to_numpy(dtype=object).tolist()])
    except Exception:
        return b""


def _given_shown(given: Any) -> str:
    """Arguments as a caller writes them: the only one by itself."""
    return repr(given[0] if isinstance(given, tuple) and len(given) == 1 else given)[:200]


def _frame_shown(frame: Any) -> str:
    held = frame.to_dict("list") if hasattr(frame, "columns") else frame.tolist()
    return repr(held)[:200]


def _plain(value: Any) -> bytes:
    match value:
        case set() | frozenset():
            return b"{" + b",".join(sorted(map(_plain, value))) + b"}"
        case dict():
            return b"{" + b",".join(_plain(k) + b":" + _plain(v) for k, v in value.items()) + b"}"
        case list() | tuple():
            return b"[" + b",".join(map(_plain, value)) + b"]"
        case int() | float() | str() | bytes() | None:
            return repr(value).encode()
        case _ if type(value).__module__.startswith("pandas"):
            return pickle.dumps(value)
        case _ if hasattr(value, "__dict__"):
            return _plain(dict(vars(value)))
        case _:
            return pickle.dumps(value)


def _is_import(frame: types.FrameType | None) -> bool:
    """Is a module being imported? That opens its file."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _harmless(event: str, arguments: tuple[Any, ...]) -> bool:
    """A library may read its own files, and a traceback reads source code."""
    path = arguments[0] if event == "open" else None
    return isinstance(path, str) and (path.endswith((".py", ".pyc")) or _of_library(path))
