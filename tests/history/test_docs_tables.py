"""The tables of docs/verify.md are those of the code."""

import inspect
from pathlib import Path

import pytest

from firesteel import rules
from firesteel.history import table as t

PAGE = Path(__file__).parents[2] / "docs" / "verify.md"


def cell(text):
    return text.replace("|", "\\|")


def rows(head, body):
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(
        "| " + " | ".join(map(cell, line)) + " |" if line[0] != "---" else "|---" * len(head) + "|" for line in lines
    )


def tables():
    return {
        "rules": rows(["rule", "for each", "says"], [rule_row(name, made) for name, made in rules.READY.items()]),
        "things": rows(["for each", "which events it sees"], [[f"`{key}`", says] for key, says in t.ENTITIES.items()]),
        "propositions": rows(
            ["proposition", "for each", "holds when", "event", "field"],
            [
                [f"`{one.name}`", ", ".join(one.entities), one.says, t.short(one.event), one.field]
                for one in t.PROPOSITIONS.values()
            ],
        ),
        "measures": rows(
            ["measure", "is", "event", "field"],
            [[f"`{one.name}`", one.says, t.short(one.event), one.field] for one in t.MEASURES.values()],
        ),
    }


def rule_row(name, made):
    if isinstance(made, rules.Rule):
        return [f"`{name}`", made.each, made.says]
    argument = next(iter(inspect.signature(made).parameters))
    says = made(10).says.replace("10 bytes", argument).replace("10", argument)
    return [f"`{name}({argument})`", made(10).each, says]


@pytest.mark.parametrize("name", tables())
def test_a_table_of_the_page_is_that_of_the_code(name):
    assert tables()[name] in PAGE.read_text(), f"write this into docs/verify.md:\n\n{tables()[name]}"


def test_every_ready_rule_and_measure_is_documented():
    assert all(one.says for one in (*t.PROPOSITIONS.values(), *t.MEASURES.values()))
    assert len(rules.READY) == 17
