"""Options are validated before Spark starts, and wrong ones say what to write."""

import subprocess
import sys
import textwrap

import pytest

import firesteel as fs
from firesteel import options


def test_what_is_left_out_is_the_usual():
    chosen = options.of_check("fs.for_all", {})
    assert chosen.how == options.Running() and chosen.checking == options.Checking()
    assert chosen.spark is None and not chosen.one_batch
    assert options.of_run({"engine": "batch"}).one_batch


@pytest.mark.parametrize(
    "given, message",
    [
        ({"engine": "flink"}, r"engine='flink' \(str\) is not possible: write 'structured', 'dstream' or 'batch'"),
        ({"engine": ["batch"]}, "is not possible: write 'structured'"),
        ({"engine": "batch", "output_mode": "update"}, "output_mode='update' .* does not go with engine='batch'"),
        ({"engine": "dstream", "state": True}, "does not go with engine='dstream'"),
        ({"output_mode": {"a": "upsert"}}, "output_mode='upsert'"),
        ({"large": -1}, "large=-1"),
        ({"seconds": True}, "seconds=True"),
        ({"over": "1 hour"}, r"over='1 hour' \(str\) is not a window"),
        ({"close": 1}, "close=1"),
        ({"state": True, "over": fs.tumbling("1 hour", on="ts")}, "do not go together"),
        ({"batch_interval": "1 microsecond"}, "write whole milliseconds"),
        ({"on_vacuous": "ignore"}, "on_vacuous='ignore'"),
        ({"cases": 0}, "cases=0"),
        ({"shrink_seconds": -1}, r"shrink_seconds=-1 \(int\) is not possible: write a number from 0"),
        ({"shrink_seconds": float("nan")}, "shrink_seconds=nan"),
        ({"shrink_seconds": None}, "shrink_seconds=None"),
        ({"shrink_candidates": 2.5}, "shrink_candidates=2.5"),
        ({"shrink_candidates": True}, "shrink_candidates=True"),
        ({"spark": "local"}, "is not a Spark session"),
    ],
)
def test_refused(given, message):
    with pytest.raises(fs.InvalidArgument, match=message):
        options.of_check("fs.for_all", given)


def test_unknown_options_are_named_with_those_there_are():
    with pytest.raises(TypeError, match=r"fs.run has no option 'cases': it has engine, output_mode, spark"):
        options.of_run({"cases": 5})
    with pytest.raises(TypeError, match=r"fs.stable has no option 'score'"):
        options.of_check("fs.stable", {"score": len}, scored=False)


def test_nothing_is_started_for_a_wrong_option():
    code = """
        import firesteel as fs
        from firesteel import perturb, strategies as ss
        from hypothesis import strategies as st
        from pyspark import SparkContext
        numbers = ss.always(ss.batches(ss.records("n INT")), during=2)
        wrong = [
            lambda: fs.run(fs.Stream("n INT", []), len, engine="flink"),
            lambda: fs.for_all(numbers, len, fs.TRUE, on_vacuous="ignore"),
            lambda: fs.for_all([1], len, fs.TRUE),
            lambda: fs.equivalent(numbers, len, max, accept=1),
            lambda: fs.stable(numbers, len, under=[perturb.restart()], engine="batch"),
        ]
        for call in wrong:
            try:
                call()
            except fs.InvalidArgument:
                continue
            raise AssertionError("not refused")
        print(SparkContext._active_spark_context, SparkContext._gateway)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "None None", done.stderr
