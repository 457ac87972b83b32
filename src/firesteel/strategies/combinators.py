"""The temporal combinators: strategies of streams from strategies of batches or of other streams.

They mirror the formulas of the same names: a stream drawn from `ss.until(a, b, within=n)` satisfies
`fs.until(a, b, within=n)` where a and b say what their batches are like. Every combinator takes batches or whole
streams; several streams that start at different instants are laid over each other, batch by batch, padded with
empty batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, overload

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import lifted, strategy_of, whole
from firesteel.strategies.records import with_schema_of
from firesteel.values.batches import Batch, common_schema, make_batch, together, with_schema
from firesteel.values.event_time import common_span
from firesteel.values.streams import Stream, make_stream

Batches: TypeAlias = SearchStrategy[Batch]
Streams: TypeAlias = SearchStrategy[Stream]


def next_(each: Batches | Streams, *, times: int = 1) -> Streams:
    """`times` empty batches, then what `each` draws.

    >>> from hypothesis import find
    >>> find(next_(_ones), lambda stream: True)
    Stream(None, [[], [1]])
    """
    return with_schema_of(_next(_each(each), whole(times, "times", 1)), [each])


def always(each: Batches | Streams, *, during: int) -> Streams:
    """What `each` draws, at every one of `during` instants, drawn anew each time.

    >>> from hypothesis import find
    >>> find(always(_ones, during=3), lambda stream: True)
    Stream(None, [[1], [1], [1]])
    """
    return with_schema_of(_always(_each(each), whole(during, "during", 1)), [each])


def eventually(each: Batches | Streams, *, within: int) -> Streams:
    """What `each` draws, at one of the first `within` instants, after empty batches.

    >>> from hypothesis import find
    >>> find(eventually(_ones, within=3), lambda stream: len(stream) > 1)
    Stream(None, [[], [1]])
    """
    return with_schema_of(_eventually(_each(each), whole(within, "within", 1)), [each])


def until(first: Batches | Streams, then: Batches | Streams, *, within: int) -> Streams:
    """What `first` draws at every instant before one of the first `within`, where `then` draws.

    >>> from hypothesis import find
    >>> find(until(_ones, _twos, within=3), lambda stream: len(stream) > 1)
    Stream(None, [[1], [2]])
    """
    parts = _each(first, "first"), _each(then, "then")
    return with_schema_of(_until(*parts, whole(within, "within", 1)), parts)


def release(first: Batches | Streams, then: Batches | Streams, *, during: int) -> Streams:
    """What `then` draws at every instant, up to and including one where `first` draws as well, or `during` times.

    >>> from hypothesis import find
    >>> find(release(_ones, _twos, during=3), lambda stream: len(stream) > 1)
    Stream(None, [[2], [2, 1]])
    """
    parts = _each(first, "first"), _each(then, "then")
    return with_schema_of(_release(*parts, whole(during, "during", 1)), parts)


def empty(*, during: int) -> Streams:
    """`during` batches without records.

    >>> from hypothesis import find
    >>> find(empty(during=2), lambda stream: True)
    Stream(None, [[], []])
    """
    return st.just(make_stream([make_batch((), None)] * whole(during, "during", 1), None))


def concat(*streams: Batches | Streams) -> Streams:
    """One stream after the other.

    >>> from hypothesis import find
    >>> find(concat(_ones, empty(during=1), _twos), lambda stream: True)
    Stream(None, [[1], [], [2]])
    """
    parts = [_each(stream, f"streams[{index}]") for index, stream in enumerate(streams)]
    return with_schema_of(_concat(parts), parts)


@overload
def overlay(*parts: Batches) -> Batches: ...
@overload
def overlay(*parts: Streams) -> Streams: ...
def overlay(*parts: Any) -> Any:
    """Batches, or whole streams batch by batch, put together; shorter streams are padded with empty batches.

    >>> from hypothesis import find
    >>> find(overlay(_ones, _twos), lambda batch: True)
    Batch([1, 2])
    >>> find(overlay(always(_ones, during=2), _twos), lambda stream: True)
    Stream(None, [[1, 2], [1]])
    """
    known = [_each(part, f"parts[{index}]") for index, part in enumerate(parts)]
    return with_schema_of(_overlay(known), known)


@overload
def any_of(*streams: Batches) -> Batches: ...
@overload
def any_of(*streams: Streams) -> Streams: ...
def any_of(*streams: Any) -> Any:
    """One of several streams, or of several batches; shrinks to the first of them.

    >>> from hypothesis import find
    >>> find(any_of(empty(during=2), repeat(_ones, times=3)), lambda stream: True)
    Stream(None, [[], []])
    >>> find(any_of(empty(during=2), repeat(_ones, times=3)), lambda stream: len(stream) > 2)
    Stream(None, [[1], [1], [1]])
    """
    if not streams:
        raise InvalidArgument("ss.any_of() has nothing to choose from: write ss.any_of(first, second)")
    if len(streams) == 1 and isinstance(streams[0], (list, tuple)):
        raise InvalidArgument(
            f"{described('streams[0]', streams[0])} is not a strategy: write ss.any_of(first, second), or "
            "ss.any_of(*streams)"
        )
    return st.one_of([_each(stream, f"streams[{index}]") for index, stream in enumerate(streams)])


def repeat(stream: Batches | Streams, *, times: int) -> Streams:
    """The stream `times` times, one after the other, drawn anew each time.

    >>> from hypothesis import find
    >>> find(repeat(_ones, times=2), lambda stream: True)
    Stream(None, [[1], [1]])
    """
    each = _each(stream, "stream")
    return with_schema_of(_concat([each] * whole(times, "times", 1)), [each])


def then(stream: Batches | Streams, rest: Callable[[Stream], Batches | Streams]) -> Streams:
    """A stream, followed by one that depends on it.

    >>> from hypothesis import find, strategies as st
    >>> find(then(_twos, lambda first: st.just(Batch([first[0][0] + 1]))), lambda stream: True)
    Stream(None, [[2], [3]])

    Each batch may depend on all before it, as `rest` may use `then` again:

    >>> def doubled(stream, instants=3):
    ...     last = st.just(Batch([2 * stream[-1][0]]))
    ...     return last if instants == 1 else then(last, lambda stream: doubled(stream, instants - 1))
    >>> find(then(_twos, doubled), lambda stream: True)
    Stream(None, [[2], [4], [8], [16]])

    A stream may as well depend on another value that was drawn, with Hypothesis's own `flatmap`:

    >>> find(st.integers(1, 9).flatmap(lambda n: repeat(_ones, times=n)), lambda stream: len(stream) > 1)
    Stream(None, [[1], [1]])
    """
    if not callable(rest) or isinstance(rest, SearchStrategy):
        raise InvalidArgument(
            f"{described('rest', rest)} is not a function: write a function of the stream drawn so far that returns a "
            "strategy, or use ss.concat"
        )
    return with_schema_of(_then(_each(stream, "stream"), rest), [stream])


# --- how they draw ---------------------------------------------------------------------------------


@st.composite
def _next(draw: DrawFn, each: SearchStrategy[Any], times: int) -> Stream:
    return _laid([(times, lifted(draw(each), "next_"))])


@st.composite
def _always(draw: DrawFn, each: SearchStrategy[Any], during: int) -> Stream:
    return _laid([(at, lifted(draw(each), "always")) for at in range(during)])


@st.composite
def _eventually(draw: DrawFn, each: SearchStrategy[Any], within: int) -> Stream:
    at = draw(st.integers(0, within - 1))
    return _laid([(at, lifted(draw(each), "eventually"))])


# The instants before the last are drawn as a list, because Hypothesis knows how to take elements out of one.


@st.composite
def _until(draw: DrawFn, first: SearchStrategy[Any], then: SearchStrategy[Any], within: int) -> Stream:
    before = [lifted(drawn, "until") for drawn in draw(st.lists(first, max_size=within - 1))]
    return _laid(enumerate([*before, lifted(draw(then), "until")]))


@st.composite
def _release(draw: DrawFn, first: SearchStrategy[Any], then: SearchStrategy[Any], during: int) -> Stream:
    held = [lifted(drawn, "release") for drawn in draw(st.lists(then, min_size=1, max_size=during))]
    parts = list(enumerate(held))
    # A stream that ends before `during` has to end with a release; one of full length need not.
    if len(held) < during or draw(st.booleans()):
        parts.append((len(held) - 1, lifted(draw(first), "release")))
    return _laid(parts)


@st.composite
def _concat(draw: DrawFn, streams: list[SearchStrategy[Any]]) -> Stream:
    return joined([lifted(draw(stream), "concat") for stream in streams])


@st.composite
def _overlay(draw: DrawFn, parts: list[SearchStrategy[Any]]) -> Batch | Stream:
    drawn = [draw(part) for part in parts]
    if all(isinstance(part, Batch) for part in drawn):
        return together(drawn)
    return _laid([(0, lifted(part, "overlay")) for part in drawn])


@st.composite
def _then(draw: DrawFn, stream: SearchStrategy[Any], rest: Callable[[Stream], Any]) -> Stream:
    begun = lifted(draw(stream), "then")
    return joined([begun, lifted(draw(_each(rest(begun), "what rest returned")), "then")])


def _each(value: Any, argument: str = "each") -> SearchStrategy[Any]:
    return strategy_of(value, argument, "a strategy of batches, such as ss.batches(...), or of streams")


def _laid(parts: Iterable[tuple[int, Stream]]) -> Stream:
    """Streams that start at given instants, laid over each other."""
    parts = list(parts)
    length = max((start + len(stream) for start, stream in parts), default=0)
    at: list[list[Batch]] = [[] for _ in range(length)]
    for start, stream in parts:
        for index, batch in enumerate(stream.batches):
            at[start + index].append(batch)
    schema = common_schema(stream.schema for _, stream in parts)
    joined = (together(batches) if batches else make_batch((), schema) for batches in at)
    span = common_span(stream.span for _, stream in parts)
    return make_stream((with_schema(batch, schema) for batch in joined), schema, span)


def joined(streams: Sequence[Stream]) -> Stream:
    """Streams one after the other, as one stream of their common schema."""
    schema = common_schema(stream.schema for stream in streams)
    batches = (with_schema(batch, schema) for stream in streams for batch in stream.batches)
    return make_stream(batches, schema, common_span(stream.span for stream in streams))


# For the examples above.
_ones: Batches = st.just(make_batch((1,), None))
_twos: Batches = st.just(make_batch((2,), None))
