"""Instant and Trace: batches by name, and links to the instants before."""

import pytest

from firesteel import Batch, Instant, Trace


def test_an_instant_gives_its_batches_by_name():
    now = Instant(3, {"ads": Batch([1]), "clicks": Batch([2])}, {"output": Batch([3])})
    assert (now["ads"], now["clicks"], now.output) == (Batch([1]), Batch([2]), Batch([3]))
    with pytest.raises(AttributeError, match=r"2 inputs \('ads', 'clicks'\): name the one you mean, now\['ads'\]"):
        _ = now.input
    with pytest.raises(KeyError, match="no stream 'add'; this instant has 'ads', 'clicks', 'output'"):
        now["add"]


def test_so_far_gathers_the_batches_up_to_here():
    trace = Trace(Instant(k, {"input": Batch([k])}, {"output": Batch([10 * k])}, recorded_dropped=1) for k in range(3))
    assert trace[0].so_far.input == [0]
    assert trace[2].so_far.input.records == (0, 1, 2)
    assert trace[2].so_far.output == [0, 10, 20]
    assert (trace[2].so_far.index, trace[2].so_far.dropped) == (2, 3)
    assert trace.output == [0, 10, 20]


def test_an_instant_is_linked_to_the_one_before_it():
    first, second = Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch([2])})
    linked = second.after(first)
    assert linked.previous is first and linked == second and second.previous is None
    assert linked.after(first) is linked and first.after(None) is first
    assert linked.after(None).previous is None
    assert Trace([first, linked])[1] is linked
