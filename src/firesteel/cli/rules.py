"""`firesteel rules`: the ready rules, the propositions and the measures that there are."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from firesteel.cli.command import Command


def main(chosen: argparse.Namespace) -> int:
    """Prints them."""
    if chosen.json:
        print(
            json.dumps({"rules": list(_rules()), "propositions": list(_propositions()), "measures": list(_measures())})
        )
        return 0
    print("\n\n".join(_told(chosen.propositions)))
    return 0


def _told(propositions: bool) -> Iterator[str]:
    if not propositions:
        for rule in _rules():
            head = rule["name"] + (f"={rule['argument']}" if rule["argument"] else "")
            about = f", for each {rule['each']}" if rule["each"] else ""
            yield f"{head}{about}\n  {rule['says']}\n  {rule['formula']}"
        return
    for one in _propositions():
        yield f"{one['name']}\n  {one['says']} ({one['event']}{', ' + one['field'] if one['field'] else ''})"
    for one in _measures():
        yield f"{one['name']}\n  {one['says']} ({one['event']}, {one['field']})"


def _rules() -> Iterator[dict[str, str]]:
    import inspect

    from firesteel.rules import READY, Rule

    for name, made in READY.items():
        # A rule with an argument is shown with one that stands for any other.
        argument = "" if isinstance(made, Rule) else next(iter(inspect.signature(made).parameters)).upper()
        rule = made if isinstance(made, Rule) else made(10)
        says = rule.says if not argument else rule.says.replace("10 bytes", argument).replace("10", argument)
        formula = rule.formula
        if rule.propositions:
            defined = ", ".join(f"{key}: {value}" for key, value in rule.propositions.items())
            formula += f" with {defined.replace('10', argument)}"
        yield {"name": name, "argument": argument, "each": rule.each or "", "says": says, "formula": formula}


def _propositions() -> Iterator[dict[str, str]]:
    from firesteel.history.table import PROPOSITIONS, short

    for one in PROPOSITIONS.values():
        each = ", ".join(one.entities)
        yield {"name": one.name, "each": each, "says": one.says, "event": short(one.event), "field": one.field}


def _measures() -> Iterator[dict[str, str]]:
    from firesteel.history.table import MEASURES, short

    for one in MEASURES.values():
        yield {"name": one.name, "each": one.entity, "says": one.says, "event": short(one.event), "field": one.field}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--propositions", action="store_true", help="list the propositions and measures instead")
    parser.add_argument("--json", action="store_true", help="print all of it as plain data")


COMMAND = Command(
    name="rules",
    place=41,
    invitation="the rules that `firesteel verify` knows",
    summary="list the ready rules, and the propositions for your own",
    description="Lists the ready rules of `firesteel verify`, each with its formula; --propositions lists what "
    "formulas and expressions are about.",
    run=main,
    add_arguments=_add_arguments,
)
