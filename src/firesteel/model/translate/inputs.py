"""The records of a program's sources, partition by partition."""

from __future__ import annotations

from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.model.translate.building import argument
from firesteel.values.programs import Operation


def records_of(operation: Operation) -> list[list[Any]]:
    """The records of a source, partition by partition, as Spark cut them."""
    if operation.name == "parallelize":
        return sliced(argument(operation, "c"), operation.partitions or 1)
    if operation.name == "emptyRDD":
        return []
    if operation.name == "range" and operation.reader is None:
        start, end = argument(operation, "start", 0), argument(operation, "end")
        first, last = (0, start) if end is None else (start, end)
        return sliced(range(first, last, argument(operation, "step", 1)), operation.partitions or 1)
    try:
        return operation.read()
    except LookupError as error:
        raise InvalidArgument(f"the records of {operation.name} cannot be read: {error}") from None


def sliced(records: Any, slices: int) -> list[list[Any]]:
    """The records of `parallelize`, as PySpark cuts them: a list is packed into batches first, and these are cut.

    >>> sliced([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 4)
    [[1, 2], [3, 4], [5, 6], [7, 8, 9, 10]]
    >>> sliced(range(10), 4)
    [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
    """
    if isinstance(records, range):
        cuts = [len(records) * place // slices for place in range(slices + 1)]
        return [list(records[cuts[place] : cuts[place + 1]]) for place in range(slices)]
    found = list(records)
    size = max(1, min(len(found) // slices, 1024))
    batches = [found[place : place + size] for place in range(0, len(found), size)]
    cuts = [len(batches) * place // slices for place in range(slices + 1)]
    return [[record for batch in batches[cuts[place] : cuts[place + 1]] for record in batch] for place in range(slices)]
