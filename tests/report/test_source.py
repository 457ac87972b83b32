"""What a user wrote, as source again: the text evaluates to a formula, or a value, that means the same."""

import datetime
import random
from decimal import Decimal
from functools import partial

import pytest

import firesteel as fs
from firesteel import Verdict, perturb
from firesteel.report.source import Source
from tests.logic import random_formulas
from tests.logic.random_formulas import random_formula


def positive(x):
    return x > 0


@fs.now
def even(x):
    return x % 2 == 0


LIMIT = 3
ODD = partial(positive)


class Callable:
    def __call__(self, x):
        return True


def evaluated(text):
    return eval(text, dict(globals()))


@pytest.mark.parametrize(
    "function, text",
    [
        (positive, "positive"),
        (lambda x: x > 0, "lambda x: x > 0"),
        (lambda x: x > LIMIT, "lambda x: x > LIMIT"),
        (lambda x: (x + 1) * 2 > 0 or (x < 5), "lambda x: (x + 1) * 2 > 0 or (x < 5)"),
        (lambda x: any(y > x for y in [1, 2]), "lambda x: any(y > x for y in [1, 2])"),
        (lambda x, y: {"a": [x, (y, "é")]}, "lambda x, y: {\"a\": [x, (y, \"é\")]}"),
        (lambda: 1, "lambda: 1"),
        (lambda x: [y for y in (x, x + 1) if y],
         "lambda x: [y for y in (x, x + 1) if y]"),
    ],
)  # fmt: skip
def test_functions(function, text):
    source = Source()
    assert source.function(function, "subject") == text and not source.missing


def test_functions_that_have_no_text_are_asked_for():
    limit = 5
    source = Source()
    odd = [lambda x: x > limit, lambda x, y=1: x > y, ODD, Callable(), lambda x: x < limit]
    assert [source.function(each, "subject") for each in odd] == [
        "subject", "subject_2", "subject_3", "subject_4", "subject_5",
    ]  # fmt: skip
    assert source.missing["subject"].startswith("x > limit, ") and source.missing["subject_4"] == "Callable"
    assert source.function(odd[0], "subject") == "subject", "the same one again"


def test_a_function_inside_another_comes_with_its_text():
    def small(x):
        return x < LIMIT

    source = Source()
    assert source.function(small, "subject") == "small"
    assert source.definitions == {"small": "def small(x):\n    return x < LIMIT"}


def test_functions_of_other_modules_are_imported():
    source = Source()
    assert source.function(random_formula, "subject") == "random_formula"
    assert source.imports == {"from tests.logic.random_formulas import random_formula"}
    assert source.formula(random_formulas.ATOMS[0]).startswith("fs.now(lambda x: x == 0, name='zero')")


@pytest.mark.parametrize(
    "formula, text",
    [
        (fs.always(positive), "fs.always(positive)"),
        (fs.now(positive), "fs.now(positive)"),
        (even, "even"),
        (fs.always(even & positive, during=3), "fs.always(even & fs.now(positive), during=3)"),
        (~(even | positive), "~(even | fs.now(positive))"),
        (fs.implies(lambda x: x > 1, fs.next_(even, times=2)), "fs.implies(lambda x: x > 1, fs.next_(even, times=2))"),
        (fs.let(lambda x: fs.next_(lambda y: y > LIMIT)), "fs.let(lambda x: fs.next_(lambda y: y > LIMIT))"),
        (fs.until(positive, True), "fs.until(positive, fs.TRUE)"),
        (fs.now(positive, name="good"), "fs.now(positive, name='good')"),
    ],
    ids=repr,
)  # fmt: skip
def test_formulas(formula, text):
    source = Source()
    assert source.formula(formula) == text and not source.missing
    assert "lambda" in text or repr(evaluated(text)) == repr(formula)


def test_the_text_of_any_formula_means_the_same():
    rng = random.Random(3)
    names = {"fs": fs, **vars(random_formulas)}
    for _ in range(150):
        formula = random_formula(rng, rng.randint(1, 4), bodies=False)
        again = eval(Source().formula(formula), names)
        for length in (1, 3, 6):
            trace = [rng.randint(0, 3) for _ in range(length)]
            assert again.evaluate(trace) is formula.evaluate(trace), formula


def smaller(a, b):
    return a < b


VALUES = [
    fs.same_key("a") | fs.ordered() & fs.unordered(),
    fs.equality(abs_tol=1e-9, ignore=["a"]),
    fs.tumbling("1 hour", on="ts"),
    fs.session_window("5 minutes", on={"input": "ts"}),
    (perturb.row_order(), perturb.partitions(3)),
    fs.Stream("a DOUBLE", [[(float("nan"),), (-0.0,)], []]),
    fs.Stream(None, [[(Decimal("1.50"), datetime.date(2030, 1, 1)), float("-inf"), fs.Record(a=1)]]),
    fs.Stream("ts TIMESTAMP", [[(datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC),)]]),
    fs.Stream("n INT", [fs.Batch([(1,), (2,)], partitions=(0, 2))]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values(value):
    source = Source()
    text = source.value(value, "value")
    assert not source.missing
    names = {"fs": fs}
    for line in source.imports:
        exec(line, names)
    again = eval(text, names)
    assert repr(again) == repr(list(value) if isinstance(value, tuple) else value)


def test_values_with_functions():
    source = Source()
    assert source.value(fs.depends(smaller), "dependence") == "fs.depends(smaller)"
    assert source.value(fs.barrier(positive) | fs.same_key("a"), "dependence") == (
        "fs.barrier(positive) | fs.same_key('a')"
    )
    assert source.value(fs.equality(by=smaller), "equal") == "fs.equality(by=smaller)"
    kept = perturb.row_order(keeping=fs.depends(smaller)) & perturb.partitions(2)
    assert source.value((kept,), "under") == "[perturb.row_order(keeping=fs.depends(smaller)) & perturb.partitions(2)]"
    assert source.value(fs.always(positive), "property") == "fs.always(positive)"
    assert not source.missing


def test_intervals():
    source = Source()
    text = source.formula(fs.always(fs.pptl("[] (p -> <> q)", p=positive, q=lambda x: x == 0), during=2))
    assert text == "fs.always(fs.pptl('[] (p -> <> q)', p=positive, q=lambda x: x == 0), during=2)"
    assert not source.missing


def test_a_verdict_stays_a_verdict():
    assert evaluated(Source().formula(fs.always(positive))).evaluate([1, -1]) is Verdict.FALSE
