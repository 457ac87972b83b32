"""A bulk run never changes what a program does: it is right, or refused with its reason. Each of these was wrong."""

import pytest

from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.failures import CannotCarry
from tests.spark.bulk.meanings import MEANINGS

REFUSED = [meaning for meaning in MEANINGS if meaning.refused is not None]
CARRIED = [meaning for meaning in MEANINGS if meaning.refused is None]


def named(meaning):
    return meaning.name


@pytest.mark.parametrize("meaning", REFUSED, ids=named)
def test_what_would_mean_something_else_is_refused(spark, meaning):
    with changed(spark, meaning.settings), pytest.raises(CannotCarry, match=meaning.refused):
        exercise_together(spark, meaning.cases, meaning.subject, meaning.how)


@pytest.mark.slow
@pytest.mark.parametrize("meaning", CARRIED, ids=named)
def test_what_is_carried_comes_out_as_alone(spark, meaning):
    with changed(spark, meaning.settings):
        together = exercise_together(spark, meaning.cases, meaning.subject, meaning.how)
        alone = exercise_apart(spark, meaning.cases, meaning.subject, meaning.how)
    assert sum(len(batch) for trace in alone for now in trace for batch in now.outputs.values()), "nothing came out"
    assert list(together) == alone
