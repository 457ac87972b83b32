"""Matches whole columns, where rows of a queue are matched in order: the first left with the first right, and so on.

Where a key's rows are ordered, a queue is a key. Where nothing is ordered, a queue is all rows that are equal. Where
everything is ordered, there is one queue. Barriers cut each of these: what lies between two barriers has queues of its
own, and the barriers of a key are matched in order.
"""

from __future__ import annotations

from typing import Any

from firesteel.monitoring.matching.classes import before, first_of_each, joined
from firesteel.monitoring.matching.outcome import Differs, Matched


def match(sides: Any, keys: Any, classes: Any, marks: Any = None, inner: Any = None) -> Matched:
    """Match rows in the order in which a matcher is fed: `sides` has 0 for a row of the left, 1 for one of the right.

    Rows with the same number in `classes` are equal. `marks` says which rows are barriers; then `inner` has the queues
    of the other rows. Without barriers each key is one queue.

    >>> import numpy as np
    >>> match(np.array([0, 0, 1, 1]), np.zeros(4, int), np.array([7, 8, 7, 9]))
    Matched(pairs=1, waiting=array([], dtype=int64), differing=(Differs(row=3, other=1),))

    A barrier of the right comes where the left has a row that is not matched:

    >>> mark, classes = np.array([False, True, True]), np.array([7, 8, 8])
    >>> match(np.array([0, 0, 1]), np.zeros(3, int), classes, mark, classes)
    Matched(pairs=0, waiting=array([], dtype=int64), differing=(Differs(row=2, other=0),))
    """
    import numpy as np
    import pandas as pd

    rows = np.arange(len(sides))
    queues, epochs = keys, None
    if marks is not None:
        epochs = before(keys * 2 + sides, marks)
        queues = joined([keys, epochs, marks.astype(np.int64), np.where(marks, 0, inner)], len(rows))
    place = before(queues * 2 + sides)
    slots = queues * (int(place.max(initial=0)) + 1) + place
    left, right = rows[sides == 0], rows[sides == 1]
    partner = pd.Index(slots[left]).get_indexer(slots[right])
    with_partner = partner >= 0
    lefts, rights = left[partner[with_partner]], right[with_partner]
    alone = np.ones(len(rows), dtype=bool)
    alone[lefts] = alone[rights] = False
    unequal = classes[lefts] != classes[rights]
    # Of two rows that do not go together, the later one cannot be matched.
    one, two = lefts[unequal], rights[unequal]
    if marks is not None:
        shut_out, by = _shut_out(sides, keys, marks, epochs, alone)
        one, two = np.concatenate([one, shut_out]), np.concatenate([two, by])
    firsts = _firsts(keys, np.maximum(one, two), np.minimum(one, two))
    spoilt = np.isin(keys, [keys[each.row] for each in firsts])
    until = np.full(int(keys.max(initial=0)) + 1, len(rows))
    for each in firsts:
        until[keys[each.row]] = each.row
    pairs = int((~unequal & (np.maximum(lefts, rights) < until[keys[lefts]])).sum())
    return Matched(pairs, rows[alone & ~spoilt], firsts)


def _shut_out(sides: Any, keys: Any, marks: Any, epochs: Any, alone: Any) -> tuple[Any, Any]:
    """Rows without a match before a barrier that the other side has passed already, and these barriers."""
    import numpy as np
    import pandas as pd

    places = (keys * (int(epochs.max(initial=0)) + 1) + epochs) * 2 + sides
    barriers, candidates = np.flatnonzero(marks), np.flatnonzero(alone)
    found = pd.Index(places[barriers]).get_indexer(places[candidates] ^ 1)  # of the other side
    return candidates[found >= 0], barriers[found[found >= 0]]


def _firsts(keys: Any, row: Any, other: Any) -> tuple[Differs, ...]:
    """The first difference of each key, in order.

    A barrier is compared with what waits before it, and only then with the other side's barrier, which came later.
    """
    import numpy as np

    order = np.lexsort((other, row))
    chosen = first_of_each(keys[row[order]], order)
    return tuple(Differs(int(row[at]), int(other[at])) for at in chosen)
