"""What all values share: reprs that evaluate, pickles, and that they cannot be changed."""

import datetime
import pickle

import pytest

import firesteel as fs
from firesteel import Batch, Check, Instant, Stream, Trace

NAN = float("nan")
SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN"
NAMES = {name: getattr(fs, name) for name in ("Batch", "Check", "Instant", "Record", "Stream", "Trace")}
NAMES["datetime"] = datetime


@pytest.mark.parametrize(
    "value",
    [
        Batch([1, "x", NAN]),
        Batch([(1, None)], schema=SCHEMA),
        Stream(SCHEMA, [[(1, True)], []]),
        Stream("t TIMESTAMP, `odd name` STRUCT<a: INT NOT NULL>", [[(datetime.datetime(2030, 1, 1), (1,))]]),
        Stream(None, [["a", "b"], []]),
        Instant(0, {"input": Batch([1])}, {"output": Batch([2])}, time=datetime.datetime(2030, 1, 1)),
        Trace([Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch()})]),
        Check(False, "why", (1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_reprs_evaluate_and_values_pickle(value):
    again = eval(repr(value), NAMES)
    assert again == value and type(again) is type(value)
    assert pickle.loads(pickle.dumps(value)) == value
    if isinstance(value, (Batch, Stream)):
        assert again.schema == value.schema


def test_values_cannot_be_changed():
    for value, name in [
        (Batch(), "records"),
        (Stream(None, []), "batches"),
        (Trace([]), "instants"),
        (Instant(0), "index"),
    ]:
        with pytest.raises(AttributeError):
            setattr(value, name, ())


def test_importing_firesteel_imports_neither_spark_nor_hypothesis():
    import subprocess
    import sys

    code = (
        "import sys, firesteel as fs; assert fs.always(lambda x: x).evaluate([True]); fs.Batch([1]).every(bool); "
        "print([m for m in ('pyspark', 'py4j', 'hypothesis', 'pandas', 'numpy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
