"""`reordered`: the streams that a source might have delivered as well, given one that it did deliver."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import lifted
from firesteel.strategies.combinators import Batches, Streams
from firesteel.values.batches import Batch, make_batch
from firesteel.values.dependence import Dependence, require_dependence
from firesteel.values.orders import Orders
from firesteel.values.streams import Stream, make_stream

# The order of more records than this is drawn as one seed: Hypothesis gives an example a limited number of choices.
_DRAWN = 200
_SEEDS = st.integers(0, 2**32 - 1)


def reordered(
    streams: Stream | Streams | Batches, *, keeping: Dependence, across_batches: bool = True
) -> SearchStrategy[Stream]:
    """A stream in all the orders that its source might have delivered it in, which keeps only some of the order.

    `streams` is a stream, or a strategy of streams. `keeping` says which records keep their order, such as
    `fs.same_key("taxi")` for a topic of Kafka with that key: what is drawn has the same records, and
    `fs.Matcher(keeping)` finds it equal to the stream. Batches keep their sizes. It shrinks to the order of the stream.

    >>> from hypothesis import find
    >>> import firesteel as fs
    >>> rides = fs.Stream("taxi INT, at INT", [[(1, 1), (2, 2)], [(1, 3)]])
    >>> find(reordered(rides, keeping=fs.same_key("taxi")), lambda stream: True)
    Stream('taxi INT, at INT', [[(1, 1), (2, 2)], [(1, 3)]])
    >>> find(reordered(rides, keeping=fs.same_key("taxi")), lambda stream: stream[0][0].taxi == 2)
    Stream('taxi INT, at INT', [[(2, 2), (1, 1)], [(1, 3)]])

    A record may come in another batch, where it may be late. With `across_batches=False` every batch keeps its records,
    and only their order in it is drawn. The order of more than 200 records is drawn as one seed: it is random as well,
    and shrinks to the order of the stream, or not at all.
    """
    if not isinstance(streams, SearchStrategy):
        if not isinstance(streams, (Stream, Batch)):
            raise InvalidArgument(
                f"{described('streams', streams)} is not a stream: write fs.Stream(...), or a strategy of streams such "
                "as ss.always(...)"
            )
        streams = st.just(streams)
    if not isinstance(across_batches, bool):
        raise InvalidArgument(f"{described('across_batches', across_batches)} is not possible: write True or False")
    return _reordered(streams, require_dependence(keeping, "keeping"), across_batches)


@st.composite
def _reordered(draw: DrawFn, streams: SearchStrategy[Any], keeping: Dependence, across_batches: bool) -> Stream:
    stream = lifted(draw(streams), "reordered")
    if across_batches:
        records = _drawn(draw, [record for batch in stream for record in batch.records], keeping)
    else:
        records = [record for batch in stream for record in _drawn(draw, batch.records, keeping)]
    rest = iter(records)
    batches = (make_batch([next(rest) for _ in batch.records], batch.schema, batch.partitions) for batch in stream)
    return make_stream(batches, stream.schema, stream.span)


def _drawn(draw: DrawFn, records: Sequence[Any], keeping: Dependence) -> Sequence[Any]:
    """The records in an order that the dependence allows."""
    orders = Orders(records, keeping)
    if len(records) > _DRAWN:
        seed = draw(_SEEDS)
        return [records[place] for place in orders.shuffled(seed)] if seed else records
    weights = list(map(round, orders.weights()))
    walk, found = orders.walk(), []
    while walk.ready:
        # In the order of the stream: the simplest choice is the first of them. One is drawn even where there is no
        # choice: else orders with fewer choices would count as simpler.
        ready = sorted(walk.ready)
        sums = list(accumulate(weights[place] for place in ready))
        chosen = ready[bisect_right(sums, draw(st.integers(0, sums[-1] - 1)))]
        walk.take(chosen)
        found.append(records[chosen])
    return found
