"""The programs that are compared on Spark, compared with RDDs that are plain lists: quick, and with more inputs."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from firesteel.model import msvl
from firesteel.model.translate.model import model_of
from tests.model.plain_rdds import Context
from tests.model.spark_programs import CASES, Case, plain


def check(case: Case, data, n: int) -> None:
    context = Context()
    expected = case.run(context, data, n)
    found = msvl.load(model_of(context.program)).run()
    assert len(found) == len(expected) == len(case.equal)
    for equal, one, two in zip(case.equal, expected, found, strict=True):
        assert equal(plain(two)) == equal(plain(one))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_model_gives_what_the_operations_mean(case):
    @settings(max_examples=2)
    @given(case.data, st.integers(1, 3))
    def run(data, n):
        check(case, data, n)

    run()


@pytest.mark.sweep
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_model_gives_what_the_operations_mean_for_long(case, sweep_seed):
    @seed(sweep_seed)
    @settings(max_examples=50, database=None)
    @given(case.data, st.integers(1, 4))
    def run(data, n):
        check(case, data, n)

    run()
