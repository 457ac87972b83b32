"""What the tests of `ss.timed` share: streams to time, and looking at the times that came out."""

from datetime import timedelta
from random import Random

from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis import strategies as st

from firesteel import strategies as ss
from firesteel.values.durations import START

SCHEMA = "id INT NOT NULL, ts TIMESTAMP NOT NULL"
event = ss.records(SCHEMA, id=st.integers(0, 3))
SOME = ss.always(ss.batches(event, max_size=5), during=6)
MINUTE, HOUR, MICROSECOND = timedelta(minutes=1), timedelta(hours=1), timedelta(microseconds=1)


def fixed(size, during=1, elements=event):
    return ss.always(ss.batches(elements, min_size=size, max_size=size), during=during)


def five_minutes(stream=SOME, **options):
    return ss.timed(stream, every="5 minutes", column="ts", **options)


def times(stream):
    return [[record.ts for record in batch] for batch in stream]


def flat(stream):
    return [moment for batch in times(stream) for moment in batch]


def after_start(stream, start=START):
    """The times of a stream, in seconds after the start."""
    return [[(moment - start).total_seconds() for moment in batch] for batch in times(stream)]


def slices(stream, every):
    """Each record with the slice of the window that it has without disorder: (time, from, up to)."""
    for index, batch in enumerate(stream):
        for place, record in enumerate(batch):
            low, high = (START + every * index + every * at / len(batch) for at in (place, place + 1))
            yield record.ts, low, high


def drawn(strategy, examples=200):
    """Some examples, without shrinking."""
    found = []

    @seed(0)
    @settings(
        max_examples=examples, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )  # fmt: skip
    @given(strategy)
    def draw(stream):
        found.append(stream)

    draw()
    return found


def simplest(strategy, predicate=lambda stream: True, phases=(Phase.generate, Phase.shrink)):
    quick = settings(
        max_examples=2_000, database=None, phases=phases, suppress_health_check=list(HealthCheck), deadline=None
    )
    return find(strategy, predicate, settings=quick, random=Random(0))


def possible(strategy, predicate):
    """Is there such a stream? Without the time that it takes to shrink it."""
    return simplest(strategy, predicate, phases=[Phase.generate]) is not None


LATE = five_minutes(ss.always(ss.batches(event, max_size=5), during=12), out_of_order="8 minutes", late="30 minutes")
