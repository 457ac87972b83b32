"""Noticing that somebody reads the order in which the records of a batch came.

A batch is a multiset: most questions are the same in any order. `records`, indexing and `sorted_by` are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class OrderRead:
    """Whether the order of any batch was read, but for those whose order is given."""

    given: set[int] = field(default_factory=set)
    """The identities of batches whose order does not depend on how a program is run, such as its input."""
    any: bool = False


_watching: ContextVar[OrderRead | None] = ContextVar("firesteel_order_read", default=None)


@contextmanager
def noticing_order() -> Iterator[OrderRead]:
    """Notice meanwhile whether the order of records is read.

    >>> from firesteel.values.batches import Batch
    >>> batch = Batch([2, 1])
    >>> with noticing_order() as read:
    ...     (2 in batch, len(batch), read.any), (batch[0], read.any)
    ((True, 2, False), (2, True))
    """
    read = OrderRead()
    token = _watching.set(read)
    try:
        yield read
    finally:
        _watching.reset(token)


def order_is_read(batch: object) -> None:
    """Somebody reads the order of this batch."""
    read = _watching.get()
    if read is not None and id(batch) not in read.given:
        read.any = True
