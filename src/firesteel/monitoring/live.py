"""Instants of a stream that never ends, and the records in them, as text that a checkpoint can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from firesteel.values.as_json import of_json, to_json
from firesteel.values.batches import make_batch
from firesteel.values.record_texts import record_reader
from firesteel.values.traces import Instant

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def moment(milliseconds: int) -> datetime:
    """A moment that Spark gives in milliseconds since 1970.

    >>> moment(1000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return _EPOCH + timedelta(milliseconds=milliseconds)


def milliseconds(at: datetime) -> int:
    """A moment as Spark takes it; parts of a millisecond count as a whole one.

    >>> milliseconds(moment(1000) + timedelta(microseconds=1))
    1001
    """
    return -((_EPOCH - at) // _MILLISECOND)


@dataclass(frozen=True)
class LiveInstant(Instant):
    """An instant of a trace that may never end: it knows nothing of the instants before it.

    >>> LiveInstant(0).so_far
    Traceback (most recent call last):
        ...
    AttributeError: now.so_far grows with the stream, so a monitor does not keep it: write a rule about now.input, ...
    """

    texts: tuple[str, ...] = ()
    """The records of `input` as they are kept."""

    @property
    def so_far(self) -> Instant:
        raise AttributeError(
            "now.so_far grows with the stream, so a monitor does not keep it: write a rule about now.input, with "
            "operators on the past (fs.once, fs.since) or a bound, or count in the pipeline itself"
        )


@dataclass(frozen=True)
class Instants:
    """Makes the instants of one stream, and writes and reads them."""

    schema: StructType
    is_window: bool

    def make(self, index: int, texts: Sequence[str], time: datetime | None) -> LiveInstant:
        """The instant with these records."""
        read = record_reader(self.schema.fieldNames())
        batch = make_batch(map(read, texts), self.schema)
        return LiveInstant(index, {"input": batch}, time=time, is_window=self.is_window, texts=tuple(texts))

    def write(self, instant: LiveInstant) -> Any:
        return [instant.index, to_json(instant.time), list(instant.texts)]

    def read(self, written: Any) -> LiveInstant:
        index, time, texts = written
        return self.make(index, texts, of_json(time))
