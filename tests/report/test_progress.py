"""Progress is shown on a terminal, from the second second on, and nowhere else."""

import io
import sys
import time

import pytest

from firesteel.evidence.events import Judging, Shrinking
from firesteel.report import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream, shown", [(Terminal, True), (io.StringIO, False)], ids=["terminal", "file"])
def test_the_case_and_the_search_for_a_smaller_one(monkeypatch, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.showing() as step:
        step(Judging(3, 20))
        time.sleep(0.3)  # the line is drawn by a thread of its own, ten times a second
        step(Shrinking(3, 20, 1))
        time.sleep(0.3)
    text = sys.stderr.getvalue()
    assert ("case 3 of 20" in text) == shown
    assert ("looking for a smaller one, 1 tried" in text) == shown


def test_a_quick_check_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.showing() as step:
        step(Judging(1, 2))
        step(Judging(2, 2))
    assert "case" not in sys.stderr.getvalue()
