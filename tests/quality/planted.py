"""What the tests of planted bugs share: catch a wrong program, and measure what it was caught with."""

import pytest

import firesteel as fs


def caught(spark, streams, subject, property_, *, cases=40, **options):
    """The counterexample that a wrong program is caught with."""
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(streams, subject, property_, cases=cases, spark=spark, **options)
    return failure.value.report.counterexample


def passes(spark, streams, subject, property_, *, cases=12, one_by_one=None, **options):
    """A right program passes. `one_by_one` is in the reason why its cases do not run together, if they do not."""
    report = fs.for_all(streams, subject, property_, cases=cases, spark=spark, **options)
    if one_by_one is None:
        assert report.one_by_one is None, f"from eight cases on they run together: {report.one_by_one}"
    else:
        assert isinstance(report.one_by_one, str) and one_by_one in report.one_by_one


def records_in(found):
    """How many records a counterexample needs: of windows, all of them; else those of the batches that were judged."""
    needed = None if found.unit == "window" else len(found.trace)
    return sum(len(batch) for stream in found.inputs.values() for batch in stream[:needed])


def false_at(found):
    """The instants where what had to be was not."""
    return [leaf.at for leaf in found.explanation.leaves() if leaf.verdict is fs.Verdict.FALSE]
