"""The sides of a comparison beside each other: what is known of the first, and the outputs of all."""

from datetime import UTC, datetime

import pytest

from firesteel import Batch, Instant, Trace
from firesteel.equivalence.comparison import Side
from firesteel.equivalence.sides import beside

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_time_watermark_and_late_records_are_those_of_the_first_side():
    first = Instant(0, {"input": Batch([1])}, {"output": Batch([1])}, NOON, False, NOON, 2)
    other = Instant(0, {"input": Batch([1])}, {"output": Batch([5])})
    (now,) = beside({Side("as it is"): Trace([first]), Side("other"): Trace([other])})
    assert (now.time, now.watermark, now.dropped, now.input) == (NOON, NOON, 2, [1])
    assert {str(name): batch for name, batch in now.outputs.items()} == {"as it is": [1], "other": [5]}


def test_windows_stay_windows():
    window = Instant(0, {}, {"output": Batch([1])}, NOON, is_window=True, recorded_dropped=None)
    (now,) = beside({Side("as it is"): Trace([window]), Side("other"): Trace([window])})
    assert now.is_window and now.recorded_dropped is None
    with pytest.raises(AttributeError, match="a window"):
        _ = now.watermark
