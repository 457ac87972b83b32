"""`firesteel verify LOG`: temporal rules of what Spark did, on an event log."""

from __future__ import annotations

import argparse
import json
import sys
from difflib import get_close_matches

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.failures import Failed, Falsified
from firesteel.evidence.logs import Verified
from firesteel.evidence.report import Report
from firesteel.history.rule import Rule

BROKEN, REFUSED, OPEN = 1, 2, 3
"""The exit codes: a rule is broken, the arguments are wrong, it could not be decided."""


def main(chosen: argparse.Namespace) -> int:
    """Verifies a log."""
    from firesteel import verification
    from firesteel.report.terminal import show

    try:
        rules = [_ready(text) for text in chosen.rule] + [_own(text, chosen) for text in chosen.formula]
        if not rules:
            raise InvalidArgument(
                "no rule is given: write --rule NAME or --formula TEXT; `firesteel rules` lists rules"
            )
        log = verification.event_log(chosen.log)
        report, code = verification.verify(log, rules), 0
    except InvalidArgument as error:
        print(f"firesteel verify: {error}", file=sys.stderr)
        return REFUSED
    except Failed as failure:
        report, code = failure.report, BROKEN if isinstance(failure, Falsified) else OPEN
        if not chosen.json:
            show(failure, sys.stdout)
            return code
    print(json.dumps(_data(report)) if chosen.json else "\n".join([report.summary(), *report.notes]))
    return code


def _data(report: Report) -> dict[str, object]:
    from firesteel.report.logs import as_data

    assert isinstance(report.evidence, Verified)
    return {"verdict": report.verdict.name, "summary": report.summary(), **as_data(report.evidence)}


def _ready(text: str) -> Rule:
    """The ready rule of a text such as NO_SPILL or attempts_at_most=3."""
    from firesteel.rules import READY

    name, given, argument = text.partition("=")
    found = READY.get(name)
    if found is None:
        near = get_close_matches(name, READY, n=1)
        raise InvalidArgument(
            f"{described('--rule', text)} is not a rule{f' (is {near[0]} meant?)' if near else ''}: `firesteel rules` "
            "lists those there are"
        )
    if isinstance(found, Rule):
        if given:
            raise InvalidArgument(f"{described('--rule', text)} takes no argument: write --rule {name}")
        return found
    if not argument:
        raise InvalidArgument(f"{described('--rule', text)} needs an argument: write --rule {name}=10")
    try:
        number: int | float | str = float(argument) if "." in argument else int(argument)
    except ValueError:
        number = argument
    return found(number)


def _own(text: str, chosen: argparse.Namespace) -> Rule:
    """The rule of a formula, with its definitions."""
    defined = dict(_definition(one) for one in chosen.define)
    made = Rule(text, text)
    return Rule(text, text, chosen.each, propositions={name: defined[name] for name in made.names & defined.keys()})


def _definition(text: str) -> tuple[str, str]:
    name, given, expression = text.partition("=")
    if not given or not name.strip() or expression.startswith("="):
        raise InvalidArgument(
            f"{described('--define', text)} is not a definition: write a name, = and an expression, such as "
            '--define "late=query.late_rows > 0"'
        )
    return name.strip(), expression.strip()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", help="an event log: a file, a rolling folder, or a folder with several logs")
    parser.add_argument(
        "--rule", action="append", default=[], metavar="NAME[=ARG]", help="a ready rule; may be given several times"
    )
    parser.add_argument(
        "--formula", action="append", default=[], metavar="TEXT", help='a formula: "[] (job_failed -> <> job_started)"'
    )
    parser.add_argument(
        "--define", action="append", default=[], metavar="NAME=EXPR", help='a proposition: "slow=stage.skew > 5"'
    )
    parser.add_argument("--each", help="what the formulas are about, such as stage: each is judged by itself")
    parser.add_argument("--json", action="store_true", help="print plain data instead of text")


COMMAND = Command(
    name="verify",
    place=40,
    invitation="did Spark do what it should? reads an event log",
    summary="check temporal rules of what Spark did, on an event log",
    description="Checks rules on an event log: ready ones (see `firesteel rules`), or formulas of PPTL over "
    "propositions about Spark's events. The exit code is 1 if a rule is broken, 2 if an argument is wrong, 3 if the "
    "log does not decide (it is not complete, or cannot be read), else 0.",
    run=main,
    add_arguments=_add_arguments,
)
