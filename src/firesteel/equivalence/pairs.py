"""One side of a comparison beside the reference, for one output: is it the same, instant by instant and in the end?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from firesteel.equivalence.comparison import Comparison, Label
from firesteel.equivalence.index import key_columns
from firesteel.equivalence.matcher import Matcher
from firesteel.errors import InvalidArgument, PredicateError
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.values.answers import as_answer, ask, raised, reason_of, returned
from firesteel.values.batches import Batch, make_batch, together
from firesteel.values.dependence import unordered
from firesteel.values.traces import Instant

_UNORDERED = unordered()


class Pair:
    """One side beside the reference, for one output."""

    def __init__(self, compared: Comparison, left: Label, right: Label, mode: str) -> None:
        self.left, self.right = left, right
        self.reason = ""
        self._compared, self._mode = compared, mode
        # With other batches, only what there is in the end can be compared.
        self._at_last = right.side.variant.regroups
        self._by_instant = not self._at_last and (mode == "complete" or compared.accept is not None)
        self._matcher = compared.matcher()

    def same(self, now: Instant) -> bool:
        """Is it the same up to this instant?"""
        if self._at_last or self.left not in now.outputs:  # where another side has more batches
            return True
        left, right = now.outputs[self.left], now.outputs[self.right]
        if self._by_instant:
            return self._same(now, left, right)
        for record in left:
            self._matcher.left(record)
        for record in right:
            self._matcher.right(record)
        return self._said(self._matcher)

    def same_at_last(self, seen: Sequence[Instant]) -> bool:
        """Is it the same, now that all has come?"""
        if self._at_last and seen:
            left, right = (
                self._in_the_end([now.outputs[name] for now in seen if name in now.outputs])
                for name in (self.left, self.right)
            )
            return self._same(_as_one(seen), left, right)
        if not self._by_instant:
            self._matcher.finish()
        return self._said(self._matcher)

    def _in_the_end(self, batches: Sequence[Batch]) -> Batch:
        """What is there in the end: all that came, the last table, or the last of every key."""
        match self._mode:
            case "append":
                return together(batches)
            case "complete":
                return batches[-1]
            case _:
                keys = key_columns(self._compared.dependence)
                if not keys:
                    raise InvalidArgument(
                        "in update mode with other batches, the last row of every key is compared: name the key "
                        "columns, as in dependence=fs.same_key('taxi')"
                    )
                last = {tuple(repr(record[key]) for key in keys): record for batch in batches for record in batch}
                return make_batch(last.values(), batches[0].schema)

    def _same(self, now: Instant, left: Batch, right: Batch) -> bool:
        matcher = (
            self._compared.matcher() if self._mode == "append" else Matcher(_UNORDERED, equal=self._compared.equal)
        )
        for record in left:
            matcher.left(record)
        for record in right:
            matcher.right(record)
        matcher.finish()
        return self._said(matcher) or self._accepted(now, left, right)

    def _accepted(self, now: Instant, left: Batch, right: Batch) -> bool:
        accept = self._compared.accept
        if accept is None:
            return False
        try:
            answer: Any = ask(accept, now, left, right)
        except Exception as error:
            raised(f"accept={name_of(accept)}", f"at instant {now.index}", error)
        known = as_answer(answer)
        if known is None:
            raise PredicateError(f"accept={name_of(accept)}, at instant {now.index}, {returned(answer)}")
        if not known:
            why = reason_of(known)
            self.reason += f"\naccept={name_of(accept)} refuses it" + (f": {why}" if why else ".")
        return bool(known)

    def _said(self, matcher: Matcher) -> bool:
        if matcher.verdict is not Verdict.FALSE:
            return True
        assert matcher.mismatch is not None
        self.reason = matcher.mismatch.said(self.left, self.right)
        return False


def _as_one(seen: Sequence[Instant]) -> Instant:
    """All that went in, at the last instant that had input: what the whole output can be held against."""
    last = [now for now in seen if now.inputs][-1]
    inputs = {name: together([now.inputs[name] for now in seen if now.inputs]) for name in last.inputs}
    return replace(last, inputs=inputs, previous=None)
