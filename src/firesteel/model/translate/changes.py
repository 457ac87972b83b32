"""Does a program change what a function reads from outside, after the function was made?

Spark takes the value when a job starts, and a model has one value only. Where the text of the program shows that it may
have been another one, the function is not translated.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

_CHANGING = {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "add", "discard", "sort"}
_CHANGING |= {"reverse", "popitem"}


def changed_later(code: CodeType, name: str) -> bool:
    """Is a name outside a function assigned or changed later in the file, or in a loop that the function is made in?"""
    tree = _file(code.co_filename)
    if tree is None:
        return False
    line = code.co_firstlineno
    scope = _scope(tree, line, name if name in code.co_freevars else None)
    loops = [
        each
        for each in ast.walk(scope)
        if isinstance(each, ast.For | ast.While | ast.AsyncFor) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return any(
        change.lineno > line or any(loop.lineno <= change.lineno <= (loop.end_lineno or 0) for loop in loops)
        for change in _changes(scope, name, inside=not isinstance(scope, ast.Module))
    )


@lru_cache(maxsize=16)
def _file(name: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(name)))
    except (SyntaxError, ValueError):
        return None


def _scope(tree: ast.Module, line: int, name: str | None) -> ast.AST:
    """Where a name is a variable: for one that a function closes over, the function around it; else the module."""
    if name is None:
        return tree
    around = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.lineno <= line <= (each.end_lineno or 0)
        and any(_stores(part, name) for part in ast.walk(each))
    ]
    return max(around, key=lambda each: each.lineno, default=tree)


def _stores(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(found, ast.Store()) | ast.arg(found):
            return found == name
    return False


def _changes(scope: ast.AST, name: str, *, inside: bool) -> Iterator[ast.expr]:
    """The places where a variable gets another value, or its value is changed."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.Lambda() | ast.AsyncFunctionDef() if not inside and not _global(node, name):
                continue
            case ast.Name(found, ast.Store() | ast.Del()) if found == name:
                yield node
            case ast.Subscript(ast.Name(found), _, ast.Store() | ast.Del()) if found == name:
                yield node
            case ast.Call(ast.Attribute(ast.Name(found), method)) if found == name and method in _CHANGING:
                yield node
        waiting += ast.iter_child_nodes(node)


def _global(function: ast.AST, name: str) -> bool:
    """Does a function change a variable of the module?"""
    return any(isinstance(each, ast.Global) and name in each.names for each in ast.walk(function))
