"""What the tests of windows share: input and output at clock times."""

from datetime import UTC, datetime, timedelta

from firesteel import Batch, Instant, Stream, Trace

DAY = datetime(2030, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = "id INT NOT NULL, ts TIMESTAMP"
OUT = "id INT NOT NULL, at TIMESTAMP"
ON = {"input": "ts", "output": "at"}


def at(clock, day=DAY):
    """A moment of the day: at("9:15")."""
    hour, minute, *second = clock.split(":")
    return day + timedelta(hours=int(hour), minutes=int(minute), seconds=float(second[0]) if second else 0)


def stream(*batches, span=None):
    """Input with one record for each clock, whose id says where it came: 0, 1, 2, ..."""
    ids = iter(range(1000))
    return Stream(SCHEMA, [[(next(ids), at(clock)) for clock in batch] for batch in batches], span=span)


def trace(*batches, inputs=None):
    """A run that put out one record for each clock (None for a null event time)."""
    ids = iter(range(1000))
    rows = [[(next(ids), None if clock is None else at(clock)) for clock in batch] for batch in batches]
    return Trace([Instant(i, inputs or {}, {"output": Batch(row, schema=OUT)}) for i, row in enumerate(rows)])


def clocks(spans):
    return [f"{start:%H:%M}-{end:%H:%M}" for start, end in spans]


def ids(instants, name):
    return [instant[name].values("id") for instant in instants]
