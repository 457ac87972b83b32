"""The fragment that is LTLf, judged by flloat: a package that shares no code with this project.

It stands in a virtual environment of its own, because its `lark-parser` gets in the way of other packages.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.logic.pptl import oracle
from tests.logic.pptl.random_formulas import LTL, random_formula, random_trace

FLLOAT = "flloat==0.3.0"
PAIRS = 4_000


def in_flloats_notation(formula):
    """flloat writes X, WX, G, F, U, R, and has operators of two formulas only."""
    one = {"Not": "!", "Next": "X", "WeakNext": "WX", "Always": "G", "Eventually": "F"}
    two = {"Implies": "->", "Iff": "<->", "Until": "U", "Release": "R"}
    kind = type(formula).__name__
    match kind:
        case "Constant":
            return str(formula.value).lower()
        case "Name":
            return formula.name
        case "And" | "Or":
            return "(" + (" & " if kind == "And" else " | ").join(map(in_flloats_notation, formula.parts)) + ")"
        case "Implies":
            return f"({in_flloats_notation(formula.premise)} -> {in_flloats_notation(formula.then)})"
        case _ if kind in one:
            return f"{one[kind]} ({in_flloats_notation(formula.body)})"
        case _ if kind in two:
            return f"({in_flloats_notation(formula.first)} {two[kind]} {in_flloats_notation(formula.then)})"
    raise AssertionError(kind)


def pairs(count, seed):
    rng = random.Random(seed)
    return [(random_formula(rng, rng.choice([1, 2, 3, 4]), inner=LTL), random_trace(rng, 6)) for _ in range(count)]


@pytest.mark.sweep
def test_the_fragment_of_ltlf_agrees_with_flloat(tmp_path, sweep_seed):
    tried = pairs(PAIRS, 1_900 + sweep_seed)
    lines = [json.dumps([in_flloats_notation(formula), ["p", "q"], list(map(sorted, word))]) for formula, word in tried]
    judged = subprocess.run(
        [_python_with_flloat(tmp_path), str(Path(__file__).with_name("flloat_judge.py"))],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=1_200,
    )
    assert judged.returncode == 0, judged.stderr[-2_000:]
    answers = list(map(json.loads, judged.stdout.splitlines()))
    assert len(answers) == len(tried)
    wrong = [
        (str(formula), trace, theirs)
        for (formula, trace), theirs in zip(tried, answers, strict=True)
        if bool(formula.evaluate(trace, names=["p", "q"])) != theirs
    ]
    assert not wrong, (len(wrong), wrong[:3])
    assert min(Counter(answers).values()) > PAIRS // 5
    print(f"\n{len(answers):,} pairs agree with {FLLOAT}")


def _python_with_flloat(folder):
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=300)
    python = str(folder / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", FLLOAT]
    subprocess.run(install, check=True, timeout=600, capture_output=True)
    return python


def test_the_notation_covers_the_fragment():
    """Without flloat: everything that is sent can be written, and means the same by brute force."""
    for formula, trace in pairs(300, 5):
        assert in_flloats_notation(formula)
        assert bool(formula.evaluate(trace, names=["p", "q"])) == oracle.holds(formula, trace)
