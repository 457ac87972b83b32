"""The lines below a table, and the lines of code to paste."""

from datetime import timedelta

import pytest

import firesteel as fs
from firesteel import Report, Stream, Trace, Verdict
from firesteel.evidence.limits import CutShort
from firesteel.evidence.report import Asked, Disagreement, Found, Program, Reproduction, Size
from firesteel.evidence.runs import Raised
from firesteel.report.again import again
from firesteel.report.facts import facts

HOURS = fs.tumbling("1 hour", on="ts")


def asked(**more):
    return Asked("fs.for_all", programs=(Program("subject", "job"),), version="4.3.0", **more)


@pytest.mark.parametrize(
    "found, text",
    [
        (Found(1, 20), "case 1 of 20"),
        (Found(1, 20, Size(1, 2)), "case 1 of 20; shrunk from 1 batch, 2 records"),
        (
            Found(1, 20, None, CutShort("shrink_seconds", 60.0)),
            "case 1 of 20; shrinking was cut short after 60 s (shrink_seconds=)",
        ),
        (
            Found(1, 20, None, CutShort("shrink_candidates", 500)),
            "case 1 of 20; shrinking was cut short after 500 candidates (shrink_candidates=)",
        ),
        (Found(1, 20, None, None, True), "case 1 of 20; seen again when run alone"),
    ],
)
def test_where_it_was_found(found, text):
    assert facts(Report(Verdict.FALSE, 1, found=found)) == {"found in": text}


@pytest.mark.parametrize(
    "why, text",
    [
        ("it limits the number of records", "one case at a time: it limits the number of records"),
        (Disagreement(2, "batch"), "of the same case differ in batch 2: a defect of bulk runs"),
        (Disagreement(None, "batch"), "of the same case differ: a defect of bulk runs"),
    ],
)
def test_why_cases_ran_one_at_a_time(why, text):
    assert text in facts(Report(Verdict.TRUE, 1, one_by_one=why))["run"]


def test_what_was_asked_comes_in_order():
    formula = fs.always(fs.now(len, name="busy"))
    report = Report(
        Verdict.TRUE, 1, asked=asked(formula=formula, options={"over": HOURS}), one_by_one="why", found=Found(1, 2)
    )
    assert list(facts(report)) == ["property", "over", "subject", "run", "found in"]
    assert facts(report)["subject"] == "job, structured, append mode, Spark 4.3.0"


def test_modes_by_output_and_other_engines():
    modes = Report(Verdict.TRUE, 1, asked=asked(output_mode={"a": "update", "b": "append"}))
    assert facts(modes)["subject"] == "job, structured, a: update, b: append mode, Spark 4.3.0"
    assert facts(Report(Verdict.TRUE, 1, asked=asked(engine="batch")))["subject"] == "job, batch, Spark 4.3.0"


def test_what_was_drawn_is_named():
    case = fs.Case(Stream("n INT", [[(1,)]]), least=3)
    report = Report(Verdict.INCONCLUSIVE, 1, Raised(inputs=case, trace=Trace(()), message=""))
    assert facts(report) == {"drawn": "least=3"}


CASE = fs.Case(Stream("n INT", [[(1,)], [(2,)]]))


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, "fs.for_all(case, job)"),
        ({"output_mode": "update"}, "job, output_mode='update')"),
        ({"batch_interval": timedelta(minutes=1)}, "job, batch_interval='1 minute')"),
        ({"over": HOURS}, "job, over=fs.tumbling('1 hour', on='ts'))"),
    ],
)
def test_options_that_are_not_the_usual_ones_are_written(options, text):
    assert text in again(asked(options=options), Reproduction(CASE, 1, "AAAA"))
