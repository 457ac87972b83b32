"""Why a rule is false at an instant, from what a monitor remembers.

A monitor does not keep the trace. It keeps what the predicates of the rule answered, from the oldest instant on whose
verdict is open, and at most at the last few. Where that is enough, the reason is the one that `fs.for_all` would give.
Where it is not, the reason names the instant that decided, and what the predicates answered there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.explain import explain_at
from firesteel.logic.ltl.formulas import Atom, Formula, postorder
from firesteel.logic.ltl.standing import Judged
from firesteel.names import counted
from firesteel.report.reasons import sentence
from firesteel.values.checks import Check

_INSTANTS = 50
"""For how many instants, counted from the last one, answers are kept."""


class _Forgotten(Exception):
    """An instant that is not kept."""


class _Trace(Sequence[Any]):
    """A trace of which only the last instant is there."""

    def __init__(self, length: int, last: Any) -> None:
        self.length, self.last = length, last

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: Any) -> Any:
        if index != self.length - 1 or self.last is None:
            raise _Forgotten
        return self.last


def atoms_of(rule: Formula) -> list[Atom]:
    """The predicates of a rule, but for those inside the body of a `let`, in a fixed order."""
    return [formula for formula in postorder(rule) if isinstance(formula, Atom)]


class Answers:
    """What the predicates of a rule answered."""

    def __init__(self, rule: Formula, kept: Sequence[Sequence[Any]] = ()) -> None:
        self._rule = rule
        self._atoms = atoms_of(rule)
        self._numbers = {id(atom): number for number, atom in enumerate(self._atoms)}
        self._known: dict[tuple[int, int], bool | Check] = {
            (number, at): holds if why is None else Check(holds, why) for number, at, holds, why in kept
        }

    def take(self, memory: Memory) -> None:
        """Remember the answers at one more instant. Those inside the body of a `let` are not kept."""
        for (atom, at), (_, answer) in memory.answers.items():
            if atom in self._numbers:
                self._known[self._numbers[atom], at] = answer

    def forget(self, open_: Sequence[int], seen: int) -> None:
        """Forget what no open instant can need, and what is long ago."""
        oldest = max(min(open_, default=seen), seen - _INSTANTS)
        self._known = {key: answer for key, answer in self._known.items() if key[1] >= oldest}

    def keep(self) -> list[list[Any]]:
        """As plain data."""
        return [
            [number, at, bool(answer), answer.reason if isinstance(answer, Check) else None]
            for (number, at), answer in self._known.items()
        ]

    def why(self, judged: Judged, memory: Memory, last: Any, seen: int, noun: str, *, ended: bool = False) -> str:
        """The reason of a verdict that became known at the last instant, or at the end of the trace."""
        known = Memory(dict(memory.answers), memory.bodies)
        for (number, at), answer in self._known.items():
            atom = self._atoms[number]
            known.answers.setdefault((id(atom), at), (atom, answer))
        try:
            return sentence(explain_at(self._rule, judged.at, _Trace(seen, last), known, ended=ended), noun)
        except _Forgotten:
            return self._decided(judged, memory, seen - 1, noun, ended)

    def _decided(self, judged: Judged, memory: Memory, at: int, noun: str, ended: bool) -> str:
        if ended:
            return f"{self._rule} had to hold in {noun} {judged.at}. The trace ended after {counted(at + 1, noun)}."
        said = " and ".join(_said(memory))
        return f"{self._rule} had to hold in {noun} {judged.at}. {noun.capitalize()} {at} makes it false: {said}."


def _said(memory: Memory) -> Iterator[str]:
    for atom, answer in memory.answers.values():
        why = f" ({answer.reason})" if isinstance(answer, Check) and answer.reason else ""
        yield f"{atom} {'holds' if answer else 'does not hold'}{why}"
