"""Matches whole columns, where rows of a group are matched in order: the first left with the first right, and so on.

Where a key's rows are ordered, a group is a key. Where nothing is ordered, a group is all rows that are equal. Where
everything is ordered, there is one group.
"""

from __future__ import annotations

from typing import Any

from firesteel.monitoring.matching.classes import first_of_each, ordinals
from firesteel.monitoring.matching.outcome import Differs, Matched


def match(sides: Any, groups: Any, classes: Any) -> Matched:
    """Match rows in the order in which a matcher is fed: `sides` has 0 for a row of the left, 1 for one of the right.

    >>> import numpy as np
    >>> match(np.array([0, 0, 1, 1]), np.zeros(4, int), np.array([7, 8, 7, 9]))
    Matched(pairs=1, waiting=array([], dtype=int64), differing=(Differs(row=3, other=1),))
    """
    import numpy as np
    import pandas as pd

    rows = np.arange(len(sides))
    place = ordinals(groups * 2 + sides)
    width = int(place.max(initial=0)) + 1
    slots = groups * width + place
    left, right = rows[sides == 0], rows[sides == 1]
    partner = pd.Index(slots[left]).get_indexer(slots[right])
    with_partner = partner >= 0
    lefts, rights = left[partner[with_partner]], right[with_partner]
    order = np.argsort(slots[lefts], kind="stable")  # by group, and in it by place
    lefts, rights = lefts[order], rights[order]
    unequal = classes[lefts] != classes[rights]
    # In each group the first pair that is not equal is the difference.
    firsts = first_of_each(groups[lefts[unequal]], np.flatnonzero(unequal))
    broken = groups[lefts[firsts]]
    spoilt = np.isin(groups, broken)
    pairs = int((~spoilt[lefts]).sum())
    for at in firsts:
        pairs += int(place[lefts[at]])
    alone = np.ones(len(sides), dtype=bool)
    alone[lefts] = alone[rights] = False
    # What came later cannot be matched: it came where the other side has something else.
    pairs_of_rows = ((int(lefts[at]), int(rights[at])) for at in firsts)
    differing = tuple(Differs(max(pair), min(pair)) for pair in pairs_of_rows)
    return Matched(pairs, rows[alone & ~spoilt], tuple(sorted(differing, key=lambda each: each.row)))
