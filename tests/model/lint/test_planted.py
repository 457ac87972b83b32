"""Every rule finds what is planted for it, and leaves the look-alike alone."""

from collections import defaultdict

import pytest

import firesteel as fs
from firesteel.linting import lint_program
from firesteel.model.lint.rules.catalogue import RULES
from tests.model.lint.programs import PLANTED

_STILL_DRAWS = ("right_checkpointed", "right_twice", "right_used_in_columns", "right_after_a_limit", "right_reuse")
LEFT = {
    **{name: {"luck-in-function"} for name in (*_STILL_DRAWS, "right_use_of_a_cache")},
    "right_update": {"aggregation-without-watermark"},
}
"""What other rules find in look-alikes, by their names: they are right in one respect only."""


@pytest.fixture(scope="module")
def found(spark, tmp_path_factory):
    """What is found in each program, by its function's name. All are captured in one block."""
    spark.sparkContext.setCheckpointDir(str(tmp_path_factory.mktemp("checkpoints")))
    with fs.capture(spark) as dag:
        for _, wrong, right in PLANTED:
            wrong(spark)
            right(spark)
    by_function = defaultdict(list)
    for one in lint_program(dag.program, seconds=30).findings:
        by_function[one.where.function].append(one)
    spark.catalog.dropTempView("lint_rows")
    return by_function


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule, wrong, right", [each[:3] for each in PLANTED], ids=[each[1].__name__ for each in PLANTED]
)
def test_the_wrong_one_is_found_and_the_right_one_is_not(found, rule, wrong, right):
    findings = [one for one in found[wrong.__name__] if one.rule == rule]
    assert findings and all(one.severity is RULES[rule].severity for one in findings)
    assert all(one.message and one.instead and one.example for one in findings)
    assert {one.rule for one in found[right.__name__]} == LEFT.get(right.__name__, set())


@pytest.mark.slow
def test_right_programs_have_no_errors(found):
    of_right = [one for _, _, right in PLANTED for one in found[right.__name__]]
    assert [str(one) for one in of_right if one.severity is fs.Severity.ERROR] == []
    assert set(LEFT) <= {right.__name__ for _, _, right in PLANTED}
