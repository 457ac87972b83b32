"""The page of the rules is what the tool writes, from the rules and the programs that the tests plant."""

import runpy
from pathlib import Path

from firesteel.model.lint.rules.catalogue import RULES
from tests.model.lint.programs import PLANTED

ROOT = Path(__file__).parents[3]


def test_the_page_is_what_the_tool_writes():
    tool = runpy.run_path(str(ROOT / "tools" / "lint_rules.py"))
    assert tool["PAGE"].read_text() == tool["page"](), "run `python tools/lint_rules.py`"


def test_every_rule_has_a_planted_program_and_a_look_alike():
    assert {rule for rule, _, _ in PLANTED} == set(RULES)
    assert all(right is not None for _, _, right in PLANTED) and len(PLANTED) >= 25
