"""Functions of whole columns in Spark's workers: which need not have firesteel."""

import subprocess
import sys

from firesteel.spark.bulk import carry_columns as columns
from firesteel.spark.bulk.carry_python import _by_value
from firesteel.spark.bulk.carry_workers import Pickled


def test_workers_need_no_firesteel():
    """A column function uses what both modules define, so both are sent."""
    import pickle

    doubled = pickle.dumps((_Doubled(), None))
    wrapper = columns.of_columns(columns.Series, Pickled(doubled), columns.Arguments(["int8"], [None], 9))
    program = """
import sys; sys.modules["firesteel"] = None
import pickle, pandas as pd
print(pickle.loads(sys.stdin.buffer.read())(pd.Series([1, 2, 3]), pd.Series([0, 1, 0])).tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], input=_by_value(wrapper), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[2, 4, 6]"


class _Doubled:
    """Pickled as a call of a builtin: the other process does not have this class either."""

    def __reduce__(self):
        import operator

        return operator.methodcaller, ("mul", 2)
