"""Finding out whether one property holds: make tests, run many at once, and look closely at what seems wrong.

A job of many tests shares a process, so what it says is a suspicion. Evidence is what was seen twice more, every run in
a process in which the function was never called before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.operators import Finding, Proof
from firesteel.logic.verdicts import Verdict
from firesteel.operators.comparing import Pair, differ
from firesteel.operators.domains import Pool
from firesteel.operators.forwarding import row_and_run, unchanged
from firesteel.operators.kinds import Family
from firesteel.operators.outcomes import Job, Seen
from firesteel.operators.properties import About, Material
from firesteel.operators.question import Question
from firesteel.operators.questions import questions
from firesteel.operators.shrinking import simpler_materials
from firesteel.operators.tally import Tally
from firesteel.operators.techniques import OURS, Maker, Technique, all_materials
from firesteel.operators.workers import Workers
from firesteel.values import lines
from firesteel.values.as_json import of_json, to_json
from firesteel.values.equality import EXACT, Equality

FIRST, MOST = 24, 200
"""How many tests are run in one job: few at first, as the first may be enough."""
_APART, _ROUNDS_APART = 6, 3
"""How many tests of the first rounds have a process for every run: a fork costs as much as hundreds of calls."""
_SHRINK_SECONDS = 4.0
_TRUE_BY_WITNESS = ("prolific",)
_OF_WHAT_RAISES = ("total", "pure")
"""Properties that a function may be seen to lack though it never gives anything."""


@dataclass
class Budget:
    """How much may be tried."""

    tests: int = 1000
    until: float = 0.0
    """By the monotonic clock."""
    limit: float = 1.0
    """Seconds for one firing."""

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until


@dataclass
class Examiner:
    """Tests the properties of one operator, one after the other; the tests of one may serve the next."""

    about: About
    workers: Workers
    pool: Pool
    equal: Equality = EXACT
    techniques: tuple[Technique, ...] = OURS
    seed: int = 0
    saved: list[Material] = field(default_factory=list)
    shrinks: bool = True
    first: int = FIRST
    """How many tests the first job has."""
    hopeless: str = ""
    """Why nothing can be found out: it never returned, ended its process or raised, in all tests of a property."""
    raises: bool = False
    """Is that because it raised?"""

    def answer(self, property: str, budget: Budget) -> Finding:
        """The finding for a property. Only evidence, a witness or a finite domain tried whole is more than open."""
        if self.hopeless and not (self.raises and property in _OF_WHAT_RAISES):  # it would take the same seconds again
            return Finding(property, Verdict.INCONCLUSIVE, why=self.hopeless)
        started = time.monotonic()
        tally = Tally()
        every = all_materials(self.about, property)
        found = None
        if every is not None:
            found = self._among(property, list(every), budget, tally, None)
        if found is None and not (every is not None and self._was_whole(tally)):
            found = self._searched(property, budget, tally)
        finding = self._finding(property, found, tally, every is not None, budget)
        if property == "keeps_columns" and tally.outputs:
            finding = replace(finding, unchanged=self.unchanged(budget))
        if tally.is_hopeless and not self.hopeless:
            self.hopeless, self.raises = finding.why, tally.raised > 0
        return replace(finding, seconds=time.monotonic() - started)

    def unchanged(self, budget: Budget) -> tuple[str, ...]:
        """The columns that pass unchanged, as far as a few tests show."""
        tests = Maker(self.about, "keeps_columns", self.techniques, self.pool, Random(self.seed))
        fed = [found for each in tests.some(FIRST) if (found := row_and_run(self.about, each)) is not None]
        seen = self.workers.run(Job(tuple(run for _, run in fed), budget.limit))
        return unchanged([row for row, _ in fed], seen, self.equal)

    def replayed(self, property: str, material: Material, budget: Budget) -> Finding:
        """The finding for a property from one material alone."""
        tally = Tally()
        found = self._among(property, [material], budget, tally, None)
        return self._finding(property, found, tally, False, budget)

    def _was_whole(self, tally: Tally) -> bool:
        return tally.tests > 0 and tally.raised == tally.late == tally.died == 0

    def _finding(self, property: str, found: _Found | None, tally: Tally, whole: bool, budget: Budget) -> Finding:
        key = ", ".join(map(str, self.about.operator.key)) if property == "partition_isolated" else None
        if found is None:
            proved = whole and self._was_whole(tally) and property not in _TRUE_BY_WITNESS
            verdict = Verdict.TRUE if proved else Verdict.INCONCLUSIVE
            why = "every value was tried" if proved else tally.why(budget.limit)
            trouble = tally.trouble(budget.limit)
            return Finding(property, verdict, tally.tests, outputs=tally.outputs, why=why, key=key, trouble=trouble)
        verdict = Verdict.TRUE if property in _TRUE_BY_WITNESS else Verdict.FALSE
        return Finding(
            property,
            verdict,
            tally.tests,
            proof=found.proof,
            port=found.question.port,
            key=key,
            outputs=tally.outputs,
            replay=encoded(found.material),
        )

    # --- searching ---

    def _searched(self, property: str, budget: Budget, tally: Tally) -> _Found | None:
        rng = Random(f"{self.seed} {property}")
        tests = Maker(self.about, property, self.techniques, self.pool, rng, self.saved)
        size, fresh, rounds = self.first, False, 0
        may_mask = self._state_may_mask(property)
        if self.about.operator.kind.family in (Family.COLUMNS, Family.GROUPS):
            size = max(1, self.first // 3)
        while tally.tests < budget.tests and not budget.is_over:
            began = time.monotonic()
            materials = tests.some(max(1, min(size, budget.tests - tally.tests)))
            doubts = _Doubts(fresh)
            rounds += 1
            # What one run leaves behind may hide what another would show: some have a process of their own.
            apart = min(_APART, 1 + len(materials) // 3) if may_mask and not fresh and rounds <= _ROUNDS_APART else 0
            found = self._among(property, materials[apart:], budget, tally, tests, doubts) or self._among(
                property, materials[:apart], budget, tally, tests, _Doubts(fresh=True)
            )
            if found is not None:
                return found
            fresh = doubts.fresh
            if rounds >= 3 and not tally.tests:  # nothing that can be fed says anything about the property
                return None
            if tally.late >= 3 or tally.died >= 6:  # more of the same would take the time of the other properties
                return None
            left = budget.until - time.monotonic()
            took = time.monotonic() - began
            most = 12 if fresh else MOST
            size = max(1, min(most, 2 * size if took < left / 4 else size // 2))
        return None

    def _state_may_mask(self, property: str) -> bool:
        return property in ("stateless", "commutative", "partition_isolated")

    def _among(
        self,
        property: str,
        materials: Sequence[Material],
        budget: Budget,
        tally: Tally,
        tests: Maker | None,
        doubts: _Doubts | None = None,
    ) -> _Found | None:
        """The first of some materials that refutes the property, made simpler."""
        doubts = doubts or _Doubts()
        asked = [list(questions(property, self.about, each, self.equal)) for each in materials]
        answers = self._ran([q for each in asked for q in each], budget.limit, doubts, tests)
        at = 0
        for material, each in zip(materials, asked, strict=True):
            mine = answers[at : at + len(each)]
            at += len(each)
            if not each:
                continue
            output = tally.add(each, mine)
            if tests is not None:
                lines = {line for answer in mine for seen in answer for line in seen.lines}
                tests.see(material, output, lines)
            for question, answer in zip(each, mine, strict=True):
                if question.judge(answer) is None:
                    continue
                proof = self._confirmed(property, question, budget.limit)
                if proof is not None:
                    found = _Found(material, question, proof)
                    return self._shrunk(property, found, budget) if self.shrinks else found
                doubts.one_more()
        return None

    def _ran(self, asked: Sequence[Question], limit: float, doubts: _Doubts, tests: Maker | None) -> list[list[Seen]]:
        """The runs of some questions: as few jobs as possible."""
        traced = tests is not None and tests.traced
        jobs: dict[tuple[bool, bool], dict[int, tuple[Any, ...]]] = {}
        for question in asked:
            for side in question.sides:  # a run that several questions share is one object
                jobs.setdefault((side.elsewhere, question.watched), {})[id(side.run)] = side.run
        seen: dict[tuple[bool, bool, int], Seen] = {}
        begun = {}
        for (elsewhere, watched), runs in jobs.items():  # the two workers work at the same time
            job = Job(tuple(runs.values()), limit, int(doubts.fresh), traced and not elsewhere, watched)
            begun[elsewhere, watched] = self.workers.begun(job, elsewhere=elsewhere)
        for key, runs in jobs.items():
            for number, each in zip(runs, begun[key](), strict=True):
                seen[*key, number] = each
        return [[seen[side.elsewhere, q.watched, id(side.run)] for side in q.sides] for q in asked]

    # --- certainty ---

    def _confirmed(self, property: str, question: Question, limit: float) -> Proof | None:
        """The proof, if the runs show it twice more, each of them in a new process."""
        seen: list[list[Seen]] = [[], []]
        for elsewhere in (False, True):
            sides = [side for side in question.sides if side.elsewhere is elsewhere]
            if sides:
                runs = tuple(side.run for _ in seen for side in sides)
                answers = self.workers.run(Job(runs, 3 * limit, 1, False, question.watched), elsewhere=elsewhere)
                seen[0] += answers[: len(sides)]
                seen[1] += answers[len(sides) :]
        proofs = [question.judge(each) for each in seen]
        if None in proofs:
            return None
        if property != "deterministic" and not self._repeated(question, seen[0], seen[1]):
            return None  # it does not even repeat itself: that is another property
        return proofs[-1]

    def _repeated(self, question: Question, first: Sequence[Seen], second: Sequence[Seen]) -> bool:
        for side, one, other in zip(question.sides, first, second, strict=True):
            left, right = side.look.at(one), side.look.at(other)
            if left is not None and right is not None and differ(left, right, Pair(side, side), self.equal):
                return False
        return True

    def _shrunk(self, property: str, found: _Found, budget: Budget) -> _Found:
        """The simplest material that still shows it, as far as there is time.

        Candidates are believed at a glance at first, as new processes cost most. If what is left in the end does not
        show it in new processes, every step is confirmed.
        """
        until = min(time.monotonic() + _SHRINK_SECONDS, max(budget.until, time.monotonic() + 0.3))
        best = self._simplest(property, found, budget, until, sure=False)
        proof = None if best is found else self._confirmed(property, best.question, budget.limit)
        if proof is not None:
            return replace(best, proof=proof)
        return found if best is found else self._simplest(property, found, budget, until, sure=True)

    def _simplest(self, property: str, found: _Found, budget: Budget, until: float, *, sure: bool) -> _Found:
        best = found
        # The first that still shows it is taken. Where a run costs as much as a process, few are tried at once.
        size = 8 if self.about.operator.kind.family in (Family.COLUMNS, Family.GROUPS) else 40
        refused: set[bytes] = set()
        while time.monotonic() < until:
            refused.add(_form(best.material))  # nothing is tried twice, so this comes to an end
            better = None
            for some in _chunks(simpler_materials(self.about, best.material), size):
                if time.monotonic() >= until or better is not None:
                    break
                new = [each for each in some if _form(each) not in refused]
                better = self._first_failing(property, new, budget, refused, sure=sure)
            if better is None:
                break
            best = better
        return best

    def _first_failing(
        self, property: str, materials: Sequence[Material], budget: Budget, refused: set[bytes], *, sure: bool
    ) -> _Found | None:
        asked = [list(questions(property, self.about, each, self.equal)) for each in materials]
        answers = self._ran([q for each in asked for q in each], budget.limit, _Doubts(), None)
        at = 0
        for material, each in zip(materials, asked, strict=True):
            mine = answers[at : at + len(each)]
            at += len(each)
            for question, answer in zip(each, mine, strict=True):
                proof = question.judge(answer)
                if proof is not None and sure:
                    proof = self._confirmed(property, question, budget.limit)
                if proof is not None:
                    return _Found(material, question, proof)
            refused.add(_form(material))
        return None


@dataclass(frozen=True)
class _Found:
    """A material that refutes a property."""

    material: Material
    question: Question
    proof: Proof


@dataclass
class _Doubts:
    """Suspicions that did not come true: after two, runs do not share a process any more."""

    fresh: bool = False
    _count: int = 0

    def one_more(self) -> None:
        self._count += 1
        if self._count >= 2:
            self.fresh = True


def _chunks(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    held: list[Any] = []
    for item in items:
        held.append(item)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def _form(material: Material) -> bytes:
    return repr(material).encode()


def encoded(material: Material) -> str:
    """A material as a line of text; empty where it holds a value that JSON cannot carry.

    >>> encoded((1, (2.5, "a")))
    'fs1:[1,{"tuple":[2.5,"a"]}]'
    >>> decoded(encoded((1, (2.5, "a"))))
    (1, (2.5, 'a'))
    """
    try:
        return lines.written([to_json(value) for value in material])
    except ValueError:
        return ""


def decoded(line: str) -> Material:
    """The material of such a line. Nothing in it is called: it may come from anybody."""
    try:
        return tuple(of_json(value) for value in lines.read(line))
    except Exception:
        raise InvalidArgument(f"{described('replay', line)} is not a line that fs.analyze printed") from None
