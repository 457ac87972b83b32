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

    if chosen.declared:
        return _declared(chosen.function)
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


def _declared(module: str) -> int:
    """Prints the claims of a module beside what is found; 1 if one of them differs."""
    from firesteel import promises
    from firesteel.report.declared import rendered

    try:
        _imported(module, described("module", module))
        found = promises.claims_beside_findings(module)
        if not found:
            raise InvalidArgument(f"{described('module', module)} declares nothing: write @fs.declares(...)")
    except InvalidArgument as error:
        print(f"firesteel analyze: {error}", file=sys.stderr)
        return 2
    rows = [(made.name, claim, each, promises.failure_of(claim, each) is None) for made, claim, each in found]
    print(rendered(rows))
    return int(not all(agrees for *_, agrees in rows))


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
    value: Any = _imported(module, described("function", text))
    for name in path.split("."):
        if not hasattr(value, name):
            raise InvalidArgument(f"{described('function', text)}: {value!r} has no {name!r}")
        value = getattr(value, name)
    return value


def _imported(module: str, given: str) -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InvalidArgument(f"{given}: its module cannot be imported: {error}") from error


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
    parser.add_argument(
        "function", help="package.module:function, or an operator in that module; with --declared a module"
    )
    parser.add_argument("--kind", choices=_KINDS, help="what Spark does with the function, where it is not plain")
    parser.add_argument("--input", help='the schema of what goes in: "user STRING, n BIGINT"')
    parser.add_argument("--key", help="the column by which records belong together")
    parser.add_argument("--property", action="append", help="test this property only; may be given several times")
    parser.add_argument("--explain", metavar="PROPERTY", help="test this property, and say all about it")
    parser.add_argument("--json", action="store_true", help="print plain data instead of a table")
    parser.add_argument(
        "--declared", action="store_true", help="of a module: print its claims (@fs.declares) beside what is found"
    )
    parser.add_argument("--tests", type=int, help="how many tests of a property (default: 1000; on Spark 100)")
    parser.add_argument("--seconds", type=float, help="how many seconds in all (default: 30; on Spark 120)")


COMMAND = Command(
    name="analyze",
    place=30,
    invitation="what does a function promise?",
    summary="find out what a function promises: is it commutative, stateless, deterministic?",
    description="Tests a function in processes of its own and says which properties it has. Spark is not needed. "
    "The exit code is 1 if a property that was named does not hold, or if a claim differs from what is found; 2 if the "
    "function cannot be analyzed; else 0.",
    run=main,
    add_arguments=_add_arguments,
)
