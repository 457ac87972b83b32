"""What the tests of planted bugs share: catch a wrong program, and measure what it was caught with."""

import pytest

import firesteel as fs


def caught(spark, streams, subject, property_, *, cases=40, **options):
    """The counterexample that a wrong program is caught with."""
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(streams, subject, property_, cases=cases, spark=spark, **options)
    return failure.value.report.counterexample


def records_in(found):
    """How many records a counterexample needs: of windows, all of them; else those of the batches that were judged."""
    needed = None if found.unit == "window" else len(found.trace)
    return sum(len(batch) for stream in found.inputs.values() for batch in stream[:needed])


def false_at(found):
    """The instants where what had to be was not."""
    return [leaf.at for leaf in found.explanation.leaves() if leaf.verdict is fs.Verdict.FALSE]
