"""What the judged cases of a check add up to: whether they say anything at all, and which of them leave it open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.report import Premise, Ran, Size, WhyAlone
from firesteel.logic.ltl.formulas import Implies
from firesteel.logic.verdicts import Verdict
from firesteel.runs.claims import Judgement
from firesteel.values.cases import Case


@dataclass(frozen=True)
class Tally:
    """What was seen of all cases so far."""

    cases: int = 0
    records_in: int = 0
    records_out: int = 0
    states: int = 0
    """Records of the subject's state."""
    dropped: int | None = 0
    """Records that Spark dropped as late; None where some trace does not know."""
    in_bulk: int = 0
    """Cases that only a bulk run has seen."""
    too_short: int = 0
    """Cases that were not run at all."""
    premises: Mapping[Implies | None, int] = field(default_factory=dict)
    """In how many cases each premise held."""
    events: Mapping[str, int] = field(default_factory=dict)
    """In how many cases `hypothesis.event` was told what."""
    undecided: tuple[Case, Judgement] | None = None
    """The first case that left the claim open."""
    stray: tuple[Case, Judgement] | None = None
    """The first case with output in none of the input's windows that might have mattered."""

    def plus(
        self,
        case: Case,
        judgement: Judgement,
        *,
        events: Sequence[str] = (),
        in_bulk: bool = False,
        too_short: bool = False,
    ) -> Tally:
        """With one more case; `in_bulk` if only a bulk run has seen it."""
        seen = judgement.trace
        out = sum(len(batch) for instant in seen for batch in instant.outputs.values())
        state = sum(len(instant.recorded_state or ()) for instant in seen)
        is_open = judgement.verdict is Verdict.INCONCLUSIVE and judgement.error is None
        strays = bool(seen.outside) and not judgement.settled
        return replace(
            self,
            cases=self.cases + 1,
            records_in=self.records_in + Size.of(case).records,
            records_out=self.records_out + out,
            states=self.states + state,
            dropped=_sum(self.dropped, *(getattr(instant, "dropped", None) for instant in seen)),
            in_bulk=self.in_bulk + in_bulk,
            too_short=self.too_short + too_short,
            premises={
                **self.premises,
                **{p: held + self.premises.get(p, 0) for p, held in judgement.premises.items()},
            },
            events={**self.events, **{event: 1 + self.events.get(event, 0) for event in events}},
            undecided=self.undecided or ((case, judgement) if is_open else None),
            stray=self.stray or ((case, judgement) if strays else None),
        )

    def ran(self, *, compared: int, why_alone: WhyAlone | None) -> Ran:
        """How the cases were run, for the report."""
        alone = self.cases - self.in_bulk - self.too_short
        return Ran(
            in_bulk=self.in_bulk,
            alone=alone,
            too_short=self.too_short,
            compared=compared,
            why_alone=why_alone if alone and not self.in_bulk else None,
            records_in=self.records_in,
            records_out=self.records_out,
            dropped=self.dropped,
            premises=tuple(
                Premise(None if implication is None else implication.premise, held)
                for implication, held in self.premises.items()
            ),
            events=tuple(sorted(self.events.items(), key=lambda event: -event[1])),
        )

    @property
    def nothing(self) -> Nothing | None:
        """Why all these cases say nothing, if they do not."""
        if not self.cases:
            return Nothing(Missing.CASES)
        if not self.records_in:
            return Nothing(Missing.INPUT)
        if not self.records_out and not self.states:
            return Nothing(Missing.OUTPUT)
        unmet = [implication for implication, held in self.premises.items() if not held]
        if unmet:
            return Nothing(Missing.PREMISE, None if unmet[0] is None else unmet[0].premise)
        return None


def _sum(*counts: int | None) -> int | None:
    """The sum of counts that are all known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
