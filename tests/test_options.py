"""Options are validated before Spark starts, and wrong ones say what to write."""

import subprocess
import sys
import textwrap

import hypothesis.errors
import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import options, perturb
from firesteel import strategies as ss
from firesteel.runs.replay import encoded
from firesteel.spark.session import start


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
        ({"output_mode": {"a": "upsert"}}, r"output_mode\['a'\]='upsert' \(str\) is not possible: write 'append'"),
        ({"output_mode": {1: "append"}}, r"output_mode=\{1: ...\} \(int\) is not the name of an output"),
        ({"output_mode": ["append"]}, r"output_mode=\['append'\] \(list\) is not possible"),
        ({"output_mode": None}, "output_mode=None"),
        ({"large": -1}, "large=-1"),
        ({"large": 1.5}, r"large=1.5 \(float\) is not possible: write a whole number from 0"),
        ({"large": "10"}, "large='10'"),
        ({"seconds": True}, "seconds=True"),
        ({"seconds": 0}, r"seconds=0 \(int\) is not possible: write a number above 0"),
        ({"seconds": float("nan")}, "seconds=nan"),
        ({"seconds": "1 minute"}, "seconds='1 minute'"),
        ({"over": "1 hour"}, r"over='1 hour' \(str\) is not a window"),
        ({"close": 1}, "close=1"),
        ({"state": "yes"}, "state='yes'"),
        ({"batch_interval": 5}, r"batch_interval=5 \(int\) is not a duration"),
        ({"batch_interval": "0 seconds"}, "a duration has to be more than zero"),
        ({"batch_interval": "2 years"}, "is not a duration"),
        ({"state": True, "over": fs.tumbling("1 hour", on="ts")}, "do not go together"),
        ({"batch_interval": "1 microsecond"}, "write whole milliseconds"),
        ({"on_vacuous": "ignore"}, "on_vacuous='ignore'"),
        ({"on_inconclusive": True}, "on_inconclusive=True"),
        ({"on_inconclusive": []}, "write 'fail' or 'pass'"),
        ({"cases": 0}, "cases=0"),
        ({"cases": "10"}, r"cases='10' \(str\) is not possible: write a whole number from 1"),
        ({"cases": 1.5}, r"cases=1.5 \(float\) is not possible: write a whole number from 1"),
        ({"cases": True}, "cases=True"),
        ({"settings": {"max_examples": 5}}, "is not Hypothesis's settings"),
        ({"examples": fs.Stream("n INT", [])}, r"is not a list of streams: write examples=\[stream\]"),
        ({"examples": 5}, "examples=5"),
        ({"examples": [[1]]}, r"examples\[0\]=\[1\] \(list\) is not a case"),
        ({"examples": [fs.Batch([1])]}, r"examples\[0\]=Batch.* is not a case: .* is a batch, where a stream is meant"),
        ({"replay": "nonsense"}, "is not a replay line"),
        ({"replay": 5}, "is not a replay line"),
        ({"name": 5}, "name=5"),
        ({"bulk": "no"}, r"bulk='no' \(str\) is not possible: write True or False"),
        ({"score": 5}, r"score=5 \(int\) is not a function"),
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


def test_unknown_options_are_named_with_the_one_that_was_meant():
    with pytest.raises(TypeError, match=r"fs.run has no option 'cases'\. It has engine, output_mode, spark"):
        options.of_run({"cases": 5})
    with pytest.raises(TypeError, match=r"fs.stable has no option 'score'"):
        options.of_check("fs.stable", {"score": len}, scored=False)
    with pytest.raises(TypeError, match=r"fs.for_all has no option 'outputmode': did you mean 'output_mode'\? It has"):
        options.of_check("fs.for_all", {"outputmode": "update"})


def test_what_is_right_is_taken():
    stream, batch = fs.Stream("n INT", [[(1,)]]), fs.Batch([1])
    line = encoded(fs.Case(stream))
    chosen = options.of_check(
        "fs.for_all",
        {"cases": 5, "examples": (each for each in [stream, {"a": stream}]), "replay": line, "bulk": False},
    )
    assert chosen.checking.cases == 5 and chosen.checking.examples == (stream, {"a": stream})
    assert chosen.checking.replay == fs.Case(stream) and not chosen.checking.bulk
    assert options.of_check("fs.for_all", {"engine": "batch", "examples": [batch]}).checking.examples == (batch,)
    assert options.of_run({"seconds": 1, "large": 0, "output_mode": {"a": "update"}}).how.mode_of("a") == "update"


NUMBERS = ss.always(ss.batches(ss.records("n INT")), during=2)
STREAM = fs.Stream("n INT", [[(1,)]])


def identity(frame):
    return frame


def positive(now):
    return bool(now.output)


WRONG = {
    "run: engine": lambda: fs.run(STREAM, identity, engine="flink"),
    "run: stream": lambda: fs.run([1], identity),
    "run: subject": lambda: fs.run(STREAM, 5),
    "run: its parameters": lambda: fs.run({"a": STREAM, "b": STREAM}, lambda a: a),
    "run: option": lambda: fs.run(STREAM, identity, cases=5),
    "for_all: option": lambda: fs.for_all(NUMBERS, identity, positive, on_vacuous="ignore"),
    "for_all: cases": lambda: fs.for_all(NUMBERS, identity, positive, cases="10"),
    "for_all: streams": lambda: fs.for_all([1], identity, positive),
    "for_all: strategy": lambda: fs.for_all(st.integers(5, 1), identity, positive),
    "for_all: subject": lambda: fs.for_all(NUMBERS, "identity", positive),
    "for_all: constant": lambda: fs.for_all(NUMBERS, identity, True),
    "for_all: not a formula": lambda: fs.for_all(NUMBERS, identity, 5),
    "for_all: TRUE": lambda: fs.for_all(NUMBERS, identity, fs.TRUE),
    "for_all: constant inside": lambda: fs.for_all(NUMBERS, identity, fs.implies(positive, True)),
    "for_all: never decided": lambda: fs.for_all(NUMBERS, identity, fs.always(fs.next_(positive))),
    "for_all: window": lambda: fs.for_all(NUMBERS, identity, positive, over=fs.tumbling("1 hour", on="ts")),
    "for_all: replay": lambda: fs.for_all(NUMBERS, identity, positive, replay=".firesteel/replay-none.txt"),
    "equivalent: accept": lambda: fs.equivalent(NUMBERS, identity, positive, accept=1),
    "equivalent: candidate": lambda: fs.equivalent(NUMBERS, identity, None),
    "equivalent: dependence": lambda: fs.equivalent(NUMBERS, identity, positive, dependence="unordered"),
    "equivalent: equal": lambda: fs.equivalent(NUMBERS, identity, positive, equal=1e-9),
    "equivalent: under": lambda: fs.equivalent(NUMBERS, identity, positive, under=5),
    "equivalent: score": lambda: fs.equivalent(NUMBERS, identity, positive, score=len),
    "stable: nothing": lambda: fs.stable(NUMBERS, identity, under=[]),
    "stable: one": lambda: fs.stable(NUMBERS, identity, under=perturb.row_order()),
    "stable: engine": lambda: fs.stable(NUMBERS, identity, under=[perturb.restart()], engine="batch"),
    "stable: subject": lambda: fs.stable(NUMBERS, 5, under=[perturb.row_order()]),
    "assert_same: frames": lambda: fs.assert_same([1], [1]),
    "assert_same: dependence": lambda: fs.assert_same(None, None, dependence=5),
    "session: config": lambda: fs.session({"spark.sql.shuffle.partitions": 4}),
    "session: not a dict": lambda: fs.session("local[2]"),
}


@pytest.fixture
def no_session(monkeypatch):
    """Fails where a session is started, or one that runs is looked for."""

    def started(*_):
        raise AssertionError("a session was started")

    monkeypatch.setattr(start, "_started", started)
    monkeypatch.setattr(start, "_running", lambda: None)


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_nothing_is_started_for_what_is_wrong(no_session, call):
    with pytest.raises((fs.InvalidArgument, TypeError, hypothesis.errors.InvalidArgument)):
        call()


def test_a_session_would_be_started_otherwise(no_session):
    for call in (
        lambda: fs.run(STREAM, identity),
        lambda: fs.for_all(NUMBERS, identity, positive),
        lambda: fs.for_all(STREAM, identity, positive),
        lambda: fs.for_all(NUMBERS, identity, fs.always(fs.next_(positive)), on_inconclusive="pass"),
        lambda: fs.stable(NUMBERS, identity, under=(each for each in [perturb.row_order()])),
    ):
        with pytest.raises(AssertionError, match="a session was started"):
            call()


def test_a_window_that_the_streams_have_no_column_for_is_named(no_session):
    with pytest.raises(fs.InvalidArgument, match=r"on='ts' .* the input 'input' has no column 'ts'|'ts'"):
        fs.for_all(NUMBERS, identity, positive, over=fs.tumbling("1 hour", on="ts"))


def test_nothing_is_started_for_a_wrong_option():
    code = """
        import firesteel as fs
        from firesteel import strategies as ss
        from pyspark import SparkContext
        numbers = ss.always(ss.batches(ss.records("n INT")), during=2)
        try:
            fs.for_all(numbers, len, fs.always(len), on_vacuous="ignore")
        except fs.InvalidArgument:
            print(SparkContext._active_spark_context, SparkContext._gateway)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "None None", done.stderr
