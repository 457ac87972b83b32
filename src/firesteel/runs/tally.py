"""What the judged cases of a check add up to: whether they say anything at all, and which of them leave it open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.report import Size
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
    premises: Mapping[Implies | None, bool] = field(default_factory=dict)
    """Did a premise hold in any case?"""
    undecided: tuple[Case, Judgement] | None = None
    """The first case that left the claim open."""
    stray: tuple[Case, Judgement] | None = None
    """The first case with output in none of the input's windows that might have mattered."""

    def plus(self, case: Case, judgement: Judgement) -> Tally:
        """With one more case."""
        seen = judgement.trace
        out = sum(len(batch) for instant in seen for batch in instant.outputs.values())
        state = sum(len(instant.recorded_state or ()) for instant in seen)
        is_open = judgement.verdict is Verdict.INCONCLUSIVE and judgement.error is None
        strays = bool(seen.outside) and not judgement.settled
        return replace(
            self,
            cases=self.cases + 1,
            records_in=self.records_in + Size.of(case).records,
            records_out=self.records_out + out + state,
            premises={
                **self.premises,
                **{p: held or self.premises.get(p, False) for p, held in judgement.premises.items()},
            },
            undecided=self.undecided or ((case, judgement) if is_open else None),
            stray=self.stray or ((case, judgement) if strays else None),
        )

    @property
    def nothing(self) -> Nothing | None:
        """Why all these cases say nothing, if they do not."""
        if not self.cases:
            return Nothing(Missing.CASES)
        if not self.records_in:
            return Nothing(Missing.INPUT)
        if not self.records_out:
            return Nothing(Missing.OUTPUT)
        unmet = [implication for implication, held in self.premises.items() if not held]
        if unmet:
            return Nothing(Missing.PREMISE, None if unmet[0] is None else unmet[0].premise)
        return None
