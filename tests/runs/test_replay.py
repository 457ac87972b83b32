"""Replay lines: a case as text, and back."""

from firesteel import Batch, Case, Stream
from firesteel.runs.replay import decoded, encoded


def test_a_replay_line_keeps_them():
    stream = Stream("n INT", [Batch([(1,), (2,)], partitions=(0, 2)), [(3,)]])
    again = decoded(encoded(Case(stream)))["input"]
    assert again == stream and [b.partitions for b in again] == [(0, 2), None]
