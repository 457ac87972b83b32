"""`firesteel analyze module:function`: what a function promises, as a table."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described


def main(chosen: argparse.Namespace) -> int:
    """Analyzes a function; 1 if evidence against some property was found that was asked for by name, else 0."""
    from firesteel import promises
    from firesteel.operators.guessing import UnclearKind

    try:
        given = _operator(chosen.function, chosen)
        names = [chosen.explain] if chosen.explain else chosen.property or []
        table = promises.analyze(given, *names, tests=chosen.tests, seconds=chosen.seconds)
    except InvalidArgument as error:
        hint = "" if chosen.kind else ". Here, --kind says what it is: --kind reducer, --kind function, ..."
        print(f"firesteel analyze: {error}{hint if isinstance(error, UnclearKind) else ''}", file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps(table.to_dict()))
    elif chosen.explain:
        print(table.explain(chosen.explain))
    else:
        print(table)
    return int(any(table[name].verdict.name == "FALSE" for name in names))


def _operator(text: str, chosen: argparse.Namespace) -> Any:
    from firesteel import operators

    function = found(text)
    if chosen.kind is None:
        return function
    options = {name: getattr(chosen, name) for name in ("input", "key") if getattr(chosen, name) is not None}
    return getattr(operators, chosen.kind)(function, **options)


def found(text: str) -> Any:
    """The function that `package.module:function` names; modules of the working directory count too."""
    module, colon, path = text.partition(":")
    if not colon or not module or not path:
        raise InvalidArgument(f"{described('function', text)} is not a function: write package.module:function")
    sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module)
    except ImportError as error:
        raise InvalidArgument(f"{described('function', text)}: its module cannot be imported: {error}") from error
    for name in path.split("."):
        if not hasattr(value, name):
            raise InvalidArgument(f"{described('function', text)}: {value!r} has no {name!r}")
        value = getattr(value, name)
    return value


_KINDS = (
    "function",
    "flat",
    "reducer",
    "pandas_udf",
    "arrow_udf",
    "map_in_pandas",
    "map_in_arrow",
    "grouped_map",
    "grouped_agg",
    "partition_function",
)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", help="package.module:function, or the name of an operator in that module")
    parser.add_argument("--kind", choices=_KINDS, help="what Spark does with the function, where it is not plain")
    parser.add_argument("--input", help='the schema of what goes in: "user STRING, n BIGINT"')
    parser.add_argument("--key", help="the column by which records belong together")
    parser.add_argument("--property", action="append", help="test this property only; may be given several times")
    parser.add_argument("--explain", metavar="PROPERTY", help="test this property, and say all about it")
    parser.add_argument("--json", action="store_true", help="print plain data instead of a table")
    parser.add_argument("--tests", type=int, default=1000, help="how many tests of a property (default: 1000)")
    parser.add_argument("--seconds", type=float, default=30.0, help="how many seconds in all (default: 30)")


COMMAND = Command(
    name="analyze",
    place=30,
    invitation="what does a function promise?",
    summary="find out what a function promises: is it commutative, stateless, deterministic?",
    description="Tests a function in processes of its own and says which properties it has. Spark is not needed. "
    "The exit code is 1 if a property that was named does not hold, 2 if the function cannot be analyzed, else 0.",
    run=main,
    add_arguments=_add_arguments,
)
