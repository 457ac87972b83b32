"""The user's functions as definitions: what MSVL makes of them is what Python makes of them."""

from __future__ import annotations

import math
import operator
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.model import msvl
from firesteel.model.msvl.printing import _definition
from firesteel.model.msvl.python import key_hash, text_hash
from firesteel.model.translate.functions import Functions
from firesteel.model.translate.names import Names

BYTES = b"x"
FACTOR, TABLE = 3, {"a": [1, 2], "b": []}


def branches(x):
    """Variables, branches and a value that is used twice."""
    y = x * FACTOR
    y += 1
    if y > 10:
        return "large"
    if y % 2 == 0 and not (x == 2 or x == 4):
        return ("even", y)
    if y < 0:
        y = -y
    return None if y == 1 else y


def helper(a, b=2):
    return a + b


def calls(x):
    return helper(x) * helper(b=x, a=1)


def generated(xs):
    biggest = max(xs, default=0) if False else len(xs)
    for x in xs:
        if x > 0:
            double = x * 2
            yield x, double
    yield biggest


INT, INTS = st.integers(-30, 30), st.lists(st.integers(-9, 9), max_size=6)
TEXT, TEXTS = st.text("ab c,", max_size=8), st.lists(st.text("abc", max_size=3), max_size=5)
PAIRS = st.lists(st.tuples(TEXT, INT), max_size=5)

ONE: list[tuple[Any, Any]] = [
    (branches, INT),
    (calls, INT),
    (lambda x: (x // 4, x % 4, x / 4, x**2, -x), INT),
    (lambda x: 1 < x <= 5 or x in (7, 8) or x not in range(-20, 20), INT),
    (lambda x: x if x else "zero", INT),
    (lambda x: "one" if 1 else x, INT),
    (lambda x: x and x > 3, INT),
    (lambda x: f"{x}|{x:4d}|{x / 3:.2f}|{'a'!r}", INT),
    (lambda x: round(x / 7, 2) + math.floor(x / 2) + abs(x), INT),
    (lambda x: [TABLE["a"], TABLE.get("z"), TABLE.get("z", x)], INT),
    (lambda s: s.split(",")[0].upper().strip(), TEXT),
    (lambda s: [s.split(), s.split(",", 1), s[1:3], s[::-1], s[-2:], len(s)], TEXT),
    (lambda s: (s.replace("a", "b"), s.startswith("a"), s.find("b"), s.count("a"), s.strip(" ,"), s.isalpha()), TEXT),
    (lambda s: {w: len(w) for w in s.split() if w}, TEXT),
    (lambda s: "-".join(sorted(s, reverse=True)), TEXT),
    (lambda s: s * 2 + "!", TEXT),
    (lambda xs: [x * y for x in xs if x > 0 for y in xs if y < 0], INTS),
    (lambda xs: (sum(xs), sum(x > 0 for x in xs), any(xs), all(x < 5 for x in xs), len(set(xs))), INTS),
    (lambda xs: sorted(set(xs)), INTS),
    (lambda xs: sorted(xs, key=lambda x: (-x % 3, x)), INTS),
    (lambda xs: [max(xs, key=abs), min(xs)] if xs else [], INTS),
    (lambda xs: list(zip(xs, map(str, xs), strict=False)), INTS),
    (lambda xs: [i for i, x in enumerate(xs) if x == i], INTS),
    (lambda xs: tuple(reversed(xs)), INTS),
    (lambda ps: [(n, w) for w, n in ps if len(w) > 1], PAIRS),
    (lambda ps: dict(ps).get("a", "none"), PAIRS),
    (lambda ps: [a + str(b) for a, b in sorted(ps, key=lambda p: p[1])], PAIRS),
    (len, TEXT),
    (str.upper, TEXT),
    (str, INT),
]


def made(function: Any, count: int) -> tuple[Functions, Any]:
    functions = Functions(Names())
    return functions, functions.made(function, "f", count)


def program_of(function: Any, count: int = 1) -> msvl.Program:
    functions, name = made(function, count)
    assert functions.outside == [], functions.outside
    text = "\n".join(map(_definition, functions.definitions))
    arguments = ", ".join(f"v{place}" for place in range(count))
    return msvl.load(f"{text}\nresult <== {name.text(arguments)} and empty")


def applied(function: Any, *values: Any) -> Any:
    program = program_of(function, len(values))
    return program.run({f"v{place}": value for place, value in enumerate(values)})["result"]


@pytest.mark.parametrize("place", range(len(ONE)))
def test_a_translated_function_gives_what_python_gives(place):
    function, data = ONE[place]
    program = program_of(function)

    @given(data)
    def run(value):
        found = program.run({"v0": value})["result"]
        assert found == function(value)
        assert repr(found) == repr(function(value))

    run()


@settings(max_examples=10)
@given(INT, INT)
def test_functions_of_two(a, b):
    assert applied(operator.add, a, b) == a + b
    assert applied(max, a, b) == max(a, b)
    assert applied(lambda x, y: x if abs(x) >= abs(y) else y, a, b) == (a if abs(a) >= abs(b) else b)


@settings(max_examples=20)
@given(INTS)
def test_generators_give_lists(xs):
    def numbers(it):
        for x in it:
            if x > 0:
                double = x * 2
                yield x, double
        yield len(it)

    assert applied(numbers, xs) == list(numbers(xs))


def test_lambdas_on_one_line_are_told_apart():
    one, two = lambda x: x + 1, lambda x: x - 1
    assert (applied(one, 5), applied(two, 5)) == (6, 4)


def scaled(n):
    return lambda x: x * n


def test_closures_have_their_own_values():
    adders = [lambda x, n=n: x + n for n in (1, 2)]
    made_ = [scaled(3), scaled(4)]
    assert [applied(each, 10) for each in (*adders, *made_)] == [11, 12, 30, 40]


def later():
    """Functions that read what is changed after they were made, and others that look like them."""
    made_, limit, table, kept = [], 1, [1], [2]
    kept.append(3)
    for step in range(2):
        made_.append(lambda x: x + step)  # noqa: B023
    wrong = [*made_, lambda x: x + limit, lambda x: x + table[0]]
    limit = 2
    table.append(3)
    fixed = 5
    right = [lambda x: x + fixed, lambda x: x + kept[1], lambda x, step=step: x + step]
    return wrong, right


def test_what_the_program_changes_later_is_not_taken_as_it_is_in_the_end():
    wrong, right = later()
    for function in wrong:
        functions, found = made(function, 1)
        assert found.external
        assert "which the program changes later" in functions.outside[0].reason
    assert [applied(function, 1) for function in right] == [6, 4, 2]


def test_an_iterator_is_gone_through_once():
    def twice(it):
        pairs = zip(it, [1, 2], strict=False)
        return [len(list(pairs)), len(list(pairs))]

    for function in (twice, lambda it: [len(list(it)), len(list(it))]):
        functions = Functions(Names())
        assert functions.made(function, "f", 1, iterates=True).external
        assert "more than once" in functions.outside[0].reason
    assert not Functions(Names()).made(lambda it: [sum(x for x in it)], "f", 1, iterates=True).external


def looping(xs):
    total = 0
    for x in xs:
        total += x
    return total


def endless(n):
    return endless(n - 1) if n else 0


OUTSIDE = {
    "looping": (looping, "the statement 'for x in xs:'"),
    "endless": (endless, "it calls itself"),
    "bits": (lambda x: x & 1, "the operator in 'x & 1'"),
    "a set": (lambda x: {x}, "a set"),
    "a call": (lambda x: isinstance(x, int), "Python's isinstance"),
    "a generator": (generated, "max with these arguments"),
    "a star": (lambda *xs: xs, "parameters with * or **"),
    "an object": (lambda x: x if x else BYTES, "a value of Python: bytes"),
    "a partial": (operator.itemgetter(0), "itemgetter: only functions and lambdas are read"),
    "arguments": (lambda x, y: x, "it takes 2 arguments, and is given 1"),
    "typed": (eval("lambda x: x + 1"), "its source is not known"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_other_functions_stay_outside_with_the_reason(name):
    function, reason = OUTSIDE[name]
    functions, found = made(function, 1)
    assert found.external
    assert functions.definitions == [] or name == "a generator"
    assert reason in functions.outside[0].reason


def test_one_operator_changed_in_the_text_changes_the_result():
    functions, found = made(lambda a, b: a + 2 * b, 2)
    text = "\n".join(map(_definition, functions.definitions))
    program = f"{text} result <== {found.text('3', '4')} and empty"
    assert msvl.load(program).run()["result"] == 11
    assert msvl.load(program.replace("+", "-")).run()["result"] == -5


def test_keys_are_hashed_as_sparks_workers_do():
    script = (
        "import ast, sys\n"
        "from pyspark.core.rdd import portable_hash\n"
        "print([portable_hash(key) for key in ast.literal_eval(sys.stdin.read())])\n"
    )
    keys = [
        "",
        "a",
        "spark",
        "é",
        "日本",
        "🎉 x",
        "longer than eight bytes",
        7,
        -3,
        2**70,
        1.5,
        None,
        ("a", 1),
        ("", None, (2,)),
    ]
    keys += [f"/page/{number}" for number in range(200)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=repr(keys),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == repr([key_hash(key) for key in keys])
    assert text_hash("spark") == 226417650480810963
