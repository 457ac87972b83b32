"""How the strategies check what they are given, and what was drawn."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.logic.bounds import whole_number
from firesteel.values.batches import Batch
from firesteel.values.records import Record
from firesteel.values.streams import Stream, make_stream


def strategy_of(value: Any, argument: str, example: str) -> SearchStrategy[Any]:
    """The value, if it is a strategy."""
    if isinstance(value, SearchStrategy):
        return value
    hint = "write st.just(...) around a fixed value, or" if not isinstance(value, (Batch, Stream)) else "write"
    raise InvalidArgument(f"{described(argument, value)} is not a strategy: {hint} {example}")


def whole(value: Any, argument: str, least: int) -> int:
    """The value, if it is a whole number of at least `least`."""
    number = whole_number(value, least)
    if number is None:
        raise InvalidArgument(f"{described(argument, value)} is not possible: write a whole number from {least}")
    return number


def lifted(drawn: Any, operator_name: str) -> Stream:
    """What a combinator drew, as a stream: a batch is a stream of one instant."""
    match drawn:
        case Stream():
            return drawn
        case Batch():
            return make_stream((drawn,), drawn.schema)
        case Record():
            raise InvalidArgument(
                f"ss.{operator_name} drew the record {drawn!r}, where a batch or a stream is meant: "
                "write ss.batches(...) around the strategy of records"
            )
        case _:
            raise InvalidArgument(
                f"ss.{operator_name} drew {described('value', drawn)}, where a batch or a stream is meant: "
                "make batches with ss.batches(elements)"
            )
