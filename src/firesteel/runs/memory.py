"""What Spark did with the cases of one check, remembered, so that no case is run twice without need.

A verdict that is definite after k instants depends on the first k input batches alone. So it is remembered under
these, and a case that begins with them needs no run: most of what shrinking tries differs only after that. This does
not apply where the last batch decides, at which event time may end, nor where windows are judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.spark.failures import SubjectFailure
from firesteel.values.batches import Batch
from firesteel.values.cases import Case, exact
from firesteel.values.records import Record
from firesteel.values.streams import Stream
from firesteel.values.traces import Trace

# Of how many cases the keys are kept.
_DIGESTS = 1_000
# What is added to the key of a whole case: its stream ended there.
_END = b"end"


@dataclass(frozen=True)
class Remembered:
    """What Spark did with a case."""

    trace: Trace
    error: SubjectFailure | None = None
    screened: bool = False
    """Was it seen only in a bulk run?"""


class Memory:
    """What Spark did, by the input that it was given."""

    def __init__(self) -> None:
        self._known: dict[bytes, Remembered] = {}
        # By identity, which holds as long as the case lives: so the case is kept here.
        self._digests: dict[int, tuple[Case, list[bytes]]] = {}

    def recall(self, case: Case) -> Remembered | None:
        """What is known of a case."""
        # Not under the last key alone: event time may end there, and went on in the case that is remembered under it.
        *before, last = self._keys(case)
        for key in before:
            if key in self._known:
                return self._known[key]
        return self._known.get(last + _END)

    def keep(self, case: Case, seen: Remembered, *, decided_after: int | None = None) -> None:
        """Remember a run; `decided_after` how many batches, where no later ones matter."""
        keys = self._keys(case)
        whole = keys[-1] + _END
        if seen.screened:
            self._known.setdefault(whole, seen)
            return
        self._known.pop(whole, None)  # what a bulk run said
        self._known[whole if decided_after is None else keys[decided_after - 1]] = seen

    def forget_screened(self) -> None:
        """Forget all that was seen only in bulk runs."""
        self._known = {key: known for key, known in self._known.items() if not known.screened}

    def identity(self, case: Case) -> bytes:
        """What tells a case from every other one: schemas, spans, partitions and the order of records included."""
        return self._keys(case)[-1]

    def _keys(self, case: Case) -> list[bytes]:
        """The keys of a case, which is asked for more than once."""
        if id(case) not in self._digests:
            if len(self._digests) >= _DIGESTS:
                self._digests.clear()
            self._digests[id(case)] = case, list(_keys(case))
        return self._digests[id(case)][1]


def _keys(case: Case) -> Iterator[bytes]:
    """A key for the first batch of every input, for the first two, and so on."""
    shapes = [
        (name, stream.schema.json() if stream.schema is not None else "", str(stream.span))
        for name, stream in case.items()
    ]
    digest = hashlib.blake2b(repr((sorted(shapes), exact(case.drawn))).encode())
    length = max((len(stream) for stream in case.values()), default=0)
    for index in range(length):
        for name in sorted(case):
            digest.update(_text(case[name], index).encode())
        yield digest.digest()
    if not length:
        yield digest.digest()


def _text(stream: Stream, index: int) -> str:
    batch: Any = stream[index] if index < len(stream) else Batch()
    return f"{_columns(batch)} {batch.partitions or ''}\n"


def _columns(batch: Batch) -> Sequence[Any]:
    """What tells a batch from others: written by Python itself, column by column, as a case may have a million values.

    A moment is represented by its hash: writing it would take longer than all else.
    """
    if batch.schema is None:
        return [record.__dict__ if type(record) is Record else record for record in batch.records]
    columns = [[record.__dict__[name] for record in batch.records] for name in batch.schema.names]
    return [
        list(map(hash, column)) if field.dataType.typeName() in ("timestamp", "timestamp_ntz") else column
        for field, column in zip(batch.schema.fields, columns, strict=True)
    ]
