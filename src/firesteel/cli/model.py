"""Programs of MSVL from the command line: `firesteel model SCRIPT.py -o FILE.m` makes one of a Spark program,
`firesteel model run FILE.m` runs one, and `firesteel model verify FILE.m` checks all its runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described


def main(chosen: argparse.Namespace) -> int:
    """Runs or verifies a program: 1 if it breaks the formula, 2 if it cannot be run or the question stays open."""
    from firesteel.evidence.failures import Falsified, Inconclusive
    from firesteel.model.msvl.errors import RunError

    try:
        return {"run": _run, "verify": _verify, _OF: _make}[chosen.action](chosen)
    except Falsified as failure:
        print(failure)
        return 1
    except (InvalidArgument, RunError, Inconclusive) as error:
        print(f"firesteel model: {error}", file=sys.stderr)
        return 2


_OF = "of"
"""The word for making a model, which a user leaves out."""


def _prepared(words: list[str]) -> list[str]:
    """`SCRIPT.py -o FILE -- ARGUMENTS` as argparse can read it: it takes no arguments of a script after an option."""
    if not words or not words[0].endswith(".py"):
        return words
    end = words.index("--") if "--" in words else len(words)
    return [_OF, *words[:end], *(f"--argument={each}" for each in words[end + 1 :])]


def _make(chosen: argparse.Namespace) -> int:
    """Runs a script, captures what it does with Spark, and writes the model."""
    from firesteel.cli.scripts import run_script, to_write

    script = Path(chosen.script)
    if not script.is_file():
        raise InvalidArgument(f"{described('SCRIPT', str(script))} is not a file")
    if chosen.output is not None:
        to_write("--output", chosen.output)
    ran = run_script(script, chosen.arguments, seconds=None)
    if ran.failure is not None:
        raise InvalidArgument(f"{described('SCRIPT', str(script))} failed, so there is no model of it: {ran.failure}")
    text = ran.dag.msvl(style=chosen.style, path=chosen.output)
    if chosen.output is None:
        print(text)
    return 0


def _run(chosen: argparse.Namespace) -> int:
    from firesteel.model import msvl

    program = msvl.load(Path(chosen.file))
    given: dict[str, Any] = {"inputs": _inputs(chosen.input), "externals": _externals(chosen.external)}
    if chosen.states:
        for state in program.states(**given, bound=chosen.bound):
            print(json.dumps({"state": state.number, **state.changes}, default=str))
    else:
        print(json.dumps(program.run(**given, bound=chosen.bound), default=str))
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    from firesteel.model import msvl
    from firesteel.verification import verify

    report = verify(
        msvl.load(Path(chosen.file)),
        chosen.formula,
        propositions=dict(_pair("--define", each) for each in chosen.define),
        inputs=_inputs(chosen.input),
        externals=_externals(chosen.external),
        bound=chosen.bound,
        runs=chosen.runs,
    )
    print(report.summary())
    return 0


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InvalidArgument(f"{described(option, text)} is not a name and a value: write {option} name=value")
    return name.strip(), value


def _inputs(given: Sequence[str]) -> dict[str, Any]:
    return {name: _value(text) for name, text in (_pair("--input", each) for each in given)}


def _value(text: str) -> Any:
    """A value that is written as JSON; other text is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _externals(given: Sequence[str]) -> dict[str, Callable[..., Any]]:
    from firesteel.cli.analyze import found

    return {name: found(path) for name, path in (_pair("--external", each) for each in given)}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="SCRIPT.py|run|verify")
    make = actions.add_parser(
        _OF, help="make a model of a Spark program: firesteel model SCRIPT.py -o model.m -- ARGUMENTS"
    )
    make.add_argument("script", help="the program, which is run")
    make.add_argument("--argument", dest="arguments", action="append", default=[], help="one of its arguments")
    make.add_argument("-o", "--output", help="where the model is written; long data goes into a file beside it")
    make.add_argument(
        "--style", choices=["edges", "paper"], default="edges", help="paper: a rendering that does not run"
    )
    run = actions.add_parser("run", help="run a program and print its results", description="Prints results as JSON.")
    run.add_argument("--states", action="store_true", help="print what changes in every state, a line for each")
    verify = actions.add_parser("verify", help="check that every run of a program satisfies a formula")
    verify.add_argument("--formula", required=True, help='a PPTL formula: "[] (p -> <> q)"')
    verify.add_argument(
        "--define", action="append", default=[], metavar="P=EXPRESSION", help='a proposition: p="x > 3"'
    )
    verify.add_argument("--runs", type=int, default=10_000, help="the most runs to look at (default: 10,000)")
    for each in (run, verify):
        each.add_argument("file", help="the program: a file whose name ends in .m")
        each.add_argument(
            "--input", action="append", default=[], metavar="NAME=VALUE", help="an input, as JSON or text"
        )
        each.add_argument(
            "--external",
            action="append",
            default=[],
            metavar="NAME=MODULE:FUNCTION",
            help="a function for `ext NAME(...)`",
        )
        each.add_argument("--bound", type=int, default=1_000_000, help="the most states of a run (default: 1,000,000)")


COMMAND = Command(
    name="model",
    place=50,
    invitation="make, run and verify a model in MSVL",
    summary="make a model of a Spark program in MSVL, run it, or check that all its runs satisfy a formula",
    description="Makes programs of the language MSVL of Spark programs, firesteel model SCRIPT.py -o model.m, "
    "and runs them. Spark is not needed to run them. The exit code is 1 if a run breaks "
    "the formula, 2 if the program cannot be run or the question stays open, else 0.",
    run=main,
    add_arguments=_add_arguments,
    prepared=_prepared,
)
