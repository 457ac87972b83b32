"""Matches records one by one, with a `Matcher` for each group: for any dependence, and with tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.equivalence.matcher import Matcher
from firesteel.logic.verdicts import Verdict
from firesteel.monitoring.matching.outcome import Differs, Matched
from firesteel.values.dependence import Dependence
from firesteel.values.equality import Equality


def match(
    sides: Sequence[int],
    groups: Sequence[int],
    records: Sequence[Any],
    dependence: Dependence,
    equality: Equality,
) -> Matched:
    """Match records in this order: those that waited before come first, and bring the matcher into its state again.

    >>> from firesteel.values.dependence import ordered
    >>> match([0, 0, 1, 1], [0] * 4, "abac", ordered(), Equality())
    Matched(pairs=1, waiting=array([], dtype=int64), differing=(Differs(row=3, other=1),))
    """
    import numpy as np

    matchers: dict[int, Matcher] = {}
    fed: dict[int, tuple[list[int], list[int]]] = {}
    for row, (side, group, record) in enumerate(zip(sides, groups, records, strict=True)):
        matcher = matchers.get(group)
        if matcher is None:
            matcher = matchers[group] = Matcher(dependence, equal=equality)
            fed[group] = ([], [])
        if matcher.verdict is Verdict.INCONCLUSIVE:
            fed[group][side].append(row)
            (matcher.right if side else matcher.left)(record)
    pairs, waiting, differing = 0, [], []
    for group, matcher in matchers.items():
        pairs += matcher.counts.matched
        mismatch = matcher.mismatch
        if mismatch is None:
            for own, alone in zip(fed[group], matcher.waiting, strict=True):
                waiting += [own[position] for position, _ in alone]
            continue
        side = 0 if mismatch.side == "left" else 1
        assert mismatch.blocked_by is not None
        differing.append(Differs(fed[group][side][mismatch.position], fed[group][1 - side][mismatch.blocked_by[0]]))
    kept = np.array(sorted(waiting), dtype=np.int64)
    return Matched(pairs, kept, tuple(sorted(differing, key=lambda each: each.row)))
