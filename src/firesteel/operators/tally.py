"""What was seen while a property was tested: how many tests, how many outputs, what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firesteel.operators.comparing import has_output
from firesteel.operators.outcomes import Died, Gave, Late, Raised, Seen, Skipped
from firesteel.operators.question import Question


@dataclass
class Tally:
    """What was seen while a property was tested."""

    tests: int = 0
    outputs: int = 0
    gave: int = 0
    raised: int = 0
    late: int = 0
    died: int = 0
    example: str = ""

    def add(self, asked: Sequence[Question], answers: Sequence[Sequence[Seen]]) -> bool:
        """Count one test; did it have any output that could be judged?"""
        seen = [each for answer in answers for each in answer]
        outcomes = [outcome for each in seen for outcome in each.outcomes]
        if all(isinstance(outcome, Skipped) for outcome in outcomes):
            return False
        self.tests += 1
        self.gave += sum(isinstance(outcome, Gave) for outcome in outcomes)
        late = [outcome for outcome in outcomes if isinstance(outcome, Late)]
        died = [outcome for outcome in outcomes if isinstance(outcome, Died)]
        raised = [outcome for outcome in outcomes if isinstance(outcome, Raised)]
        self.late, self.died, self.raised = self.late + bool(late), self.died + bool(died), self.raised + bool(raised)
        if died and not self.died - 1:
            self.example = died[0].how
        elif raised and not self.died:
            self.example = f"{raised[0].kind}: {raised[0].message}".removesuffix(": ")
        judged = any(question.could_be_judged(answer) for question, answer in zip(asked, answers, strict=True))
        output = judged and any(has_output(each.all_outputs) for each in seen)
        self.outputs += output
        return output

    @property
    def is_hopeless(self) -> bool:
        """Was there nothing but calls that did not return, that ended their process, or that raised?"""
        return self.gave == 0 and (self.late + self.died >= 3 or self.raised >= 100)

    def trouble(self, limit: float) -> str:
        """What went wrong in some tests, if others had an output."""
        said = [f"did not return within {limit:g} s"] if self.late else []
        said += [f"ended its process ({self.example})"] if self.died else []
        if not self.outputs or not said:
            return ""
        return f"in {self.late + self.died} of {self.tests} tests it {' or '.join(said)}"

    def why(self, limit: float) -> str:
        """What went wrong, if nothing was seen to come out."""
        if self.outputs:
            return ""
        if not self.tests:
            return "no test could be made of it in the time that was left"
        if self.late:
            return f"it did not return within {limit:g} s"
        if self.died:
            return f"it ended its process ({self.example})"
        if self.raised:
            return f"it raised in every test ({self.example})"
        return "no test had any output"
