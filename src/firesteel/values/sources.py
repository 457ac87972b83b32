"""The text of a function, as it stands in its file. Several lambdas on one line are told apart by their columns."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from functools import lru_cache, partial
from types import CodeType
from typing import Any


def source_of(function: Callable[..., Any]) -> str | None:
    """The text of a function; None where there is none, as for built-in functions and what was typed into a prompt.

    >>> source_of(lambda a, b: a if a > b else b)
    'lambda a, b: a if a > b else b'
    >>> source_of(len) is None
    True
    """
    while isinstance(function, partial):
        function = function.func
    code = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType):
        return None
    if code.co_name == "<lambda>":
        return _lambda_text(code)
    try:
        text = textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError, SyntaxError):
        return None
    # A file that was changed since it was loaded has something else in these lines.
    return text if code.co_name in text else None


def _lambda_text(code: CodeType) -> str | None:
    """The innermost lambda in the file whose body holds all instructions of the code."""
    places = [
        ((line, start), (end_line, end))
        for line, end_line, start, end in code.co_positions()
        if line is not None and end_line is not None and start is not None and end is not None
        if (line, start) != (end_line, end)
    ]
    text = "".join(linecache.getlines(code.co_filename))
    if not places or not text:
        return None
    first, last = min(start for start, _ in places), max(end for _, end in places)
    found = [node for node in _lambdas(text) if _start(node.body) <= first and last <= _end(node.body)]
    if not found:
        return None
    return _segment(text, max(found, key=_start))


@lru_cache(maxsize=256)
def _segment(text: str, node: ast.Lambda) -> str | None:
    """The text of a lambda. Those who ask for it ask several times, and every time the whole file is cut into lines."""
    # Columns of the tree count bytes of UTF-8, as `get_source_segment` knows.
    return ast.get_source_segment(text, node)


@lru_cache(maxsize=32)
def _lambdas(text: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
