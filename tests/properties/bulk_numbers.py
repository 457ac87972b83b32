"""Streams of numbers and simple subjects, for the tests of bulk runs."""

from hypothesis import strategies as st

import firesteel as fs
from firesteel import strategies as ss

N = ss.records("n INT NOT NULL", n=st.integers(0, 100))
numbers = ss.always(ss.batches(N, min_size=1, max_size=4), during=3)
same = fs.always(lambda now: now.output.same_as(now.input))


def identity(frame):
    return frame


def loses_some(frame):
    return frame.where("n < 80")


def limited(frame):
    return frame.limit(1_000)
