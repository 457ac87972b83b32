"""What the tests of event time share: moments as minutes after midnight, streams of them, and programs that count."""

from datetime import UTC, datetime, timedelta

from pyspark.sql import functions as F

from firesteel import Stream

DAY = datetime(2024, 1, 1, tzinfo=UTC)
ON = {"input": "t", "output": "at"}


def at(minutes):
    return DAY + timedelta(minutes=minutes)


def plain(value):
    """Moments as minutes after midnight, all else as it is."""
    return (value - DAY) / timedelta(minutes=1) if isinstance(value, datetime) else value


def rows(batch):
    return sorted((tuple(map(plain, row)) for row in batch), key=lambda row: [(v is None, v) for v in row])


def sorted_rows(*parts):
    return rows(row for part in parts for row in part)


def outputs(trace):
    return [rows(instant.output) for instant in trace]


def watermarks(trace):
    return [plain(instant.watermark) for instant in trace]


def times(*batches, span=None):
    """A stream of event times."""
    span = None if span is None else tuple(map(at, span))
    return Stream("t TIMESTAMP", [[(at(minute),) for minute in batch] for batch in batches], span=span)


def keyed(*batches):
    """A stream of keys and event times."""
    return Stream("k INT, t TIMESTAMP", [[(k, at(minute)) for k, minute in batch] for batch in batches])


def counts(delay="5 minutes", size="10 minutes", *slide):
    """Counts records in windows; `at` is the window's start."""

    def subject(frame):
        windows = frame.withWatermark("t", delay).groupBy(F.window("t", size, *slide))
        return windows.count().select(F.col("window.start").alias("at"), "count")

    return subject


def sessions(frame):
    """Counts records in sessions; Spark wants one more key, which is the same for all."""
    marked = frame.withWatermark("t", "5 minutes").groupBy(
        F.expr("t > DATE'1970-01-01'"), F.session_window("t", "10 minutes")
    )
    return marked.count().select(F.col("session_window.start").alias("at"), "count")
