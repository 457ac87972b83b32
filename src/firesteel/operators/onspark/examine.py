"""Searches for evidence against a property: makes materials, screens them, confirms what it finds, makes it simpler."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice

from firesteel.evidence.onspark import OnSpark
from firesteel.evidence.operators import Finding
from firesteel.logic.verdicts import Verdict
from firesteel.operators.comparing import has_output
from firesteel.operators.examine import encoded
from firesteel.operators.onspark.feeds import SECOND, Failed, Gave, Material, NotRun, Result
from firesteel.operators.onspark.harder import QUESTIONS
from firesteel.operators.onspark.making import Maker, simpler
from firesteel.operators.onspark.model import About, Question
from firesteel.operators.onspark.operator import SparkKind
from firesteel.operators.onspark.running import Runner
from firesteel.operators.onspark.sinks import QUESTIONS as OF_SINKS

_ROUND, _LARGE_ROUND, _TIMED_ROUND, _ROUND_ALONE, _ROUND_OF_JOBS = 24, 280, 92, 3, 10
"""How many tests are run together: few at first, as one of them may be enough."""
_MANY_JOBS = 64
_MOST_ALONE = {"restart_safe": 4, "state_bounded": 2}
"""Properties whose runs cannot share a query, and how many tests of each are made at most."""
_TRIED = 50
"""How many tests are tried in Python at once."""
_TRYING_SECONDS = 6.0
_SHRINK_SECONDS = 8.0
_CANDIDATES = 60
_DOUBTS = 3
"""After this many suspicions that runs alone do not confirm, runs no longer share a query."""
_FAILURES = {"deterministic": 3}
"""How often a run by itself may fail to show what another one showed: chance is what the property is about."""
_EMPTY_ROUNDS = 3
_TWICE = "twice, each run by itself"
_AGAIN = "together with other tests, and again in runs by themselves that gave the same"
_IN_PYTHON = "in Python first, and then on Spark, in runs by themselves that gave the same"
_TELLING = 30


@dataclass
class Budget:
    """How much may be tried."""

    tests: int = 100
    until: float = 0.0
    """By the monotonic clock."""

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until


@dataclass
class _Tally:
    tests: int = 0
    outputs: int = 0
    failed: int = 0
    example: str = ""
    always: bool = False
    hung: int = 0
    """How many tests had nothing but runs that did not come to an end in time."""
    untold: str = ""
    """What the output of some tests does not say, without which they show nothing."""

    def add(self, results: Sequence[Sequence[Result]], untold: str = "") -> bool:
        """Count one test; did it have any output? Where that left something untold, it is not counted as output."""
        complete = [every for every in results if not any(isinstance(each, NotRun) for each in every)]
        if not complete:  # no question was answered
            return False
        ran = [each for every in complete for each in every]
        self.tests += 1
        failures = [each for each in ran if isinstance(each, Failed)]
        self.failed += bool(failures)
        self.example = self.example or (failures[0].message if failures else "")
        self.always = self.always or any(each.always for each in failures)
        self.hung += all(isinstance(each, Failed) and each.hangs for each in ran)
        output = any(isinstance(each, Gave) and (has_output(each.rows) or any(each.state)) for each in ran)
        self.outputs += output and not untold
        self.untold = self.untold or untold
        return output

    @property
    def why(self) -> str:
        """What went wrong, if nothing was seen to come out."""
        if self.outputs:
            return ""
        if self.failed:
            return f"it failed in every test ({self.example})" if self.failed == self.tests else self.example
        if self.untold:
            return self.untold
        return "no test had any output" if self.tests else "nothing that can be fed says anything about it"

    @property
    def trouble(self) -> str:
        """What went wrong in some of the tests, where others had output."""
        some = self.failed if self.outputs else 0
        return f"{self.failed} of {self.tests} tests did not come to their end: {self.example}" if some else ""


@dataclass(frozen=True)
class _Found:
    material: Material
    question: Question
    proof: OnSpark
    pause: timedelta
    screened: tuple[Result, ...] = ()
    """What it gave before it was run by itself: in Python, or on Spark together with others."""
    in_python: bool = False
    """Was it seen in Python first?"""
    seen: tuple[tuple[Result, ...], ...] = ()
    """What runs by themselves gave already, which showed it."""

    @property
    def confirmed(self) -> str:
        """How it was seen twice."""
        if len(self.seen) > 1:
            return _TWICE
        return _IN_PYTHON if self.in_python else _AGAIN


@dataclass
class Examiner:
    """Tests the properties of one operator, one after the other."""

    about: About
    runner: Runner
    maker: Maker
    shrinks: bool = True
    pauses: tuple[timedelta, ...] = (SECOND,)
    """The pauses between records: one test has the first, the next one the second."""
    broken: str = ""
    """Why no run of the operator comes to an end, once that is known."""
    _doubts: int = field(default=0)
    _telling: list[Material] = field(default_factory=list)
    """Materials that had some output."""

    def answer(self, property: str, budget: Budget) -> Finding:
        """The finding for a property."""
        started, tally = time.monotonic(), _Tally()
        self.runner.until = budget.until
        found = self._searched(property, budget, tally)
        return replace(self._finding(property, found, tally), seconds=time.monotonic() - started)

    def replayed(self, property: str, material: Material) -> Finding:
        """The finding for a property from one material alone."""
        tally = _Tally()
        self.runner.until = float("inf")
        for pause in dict.fromkeys((*self.pauses, self.about.delays[-1])):
            found = self._certain(property, self._among(property, [material], tally, (pause,)), None)
            if found is not None:
                break
        return self._finding(property, found, tally)

    def _finding(self, property: str, found: _Found | None, tally: _Tally) -> Finding:
        key = ", ".join(self.about.operator.key) if property == "partition_isolated" else None
        if tally.always or tally.hung == tally.tests > 0:
            self.broken = tally.example
        if found is None:
            return Finding(
                property,
                Verdict.INCONCLUSIVE,
                tally.tests,
                outputs=tally.outputs,
                why=tally.why,
                trouble=tally.trouble,
                key=key,
            )
        return Finding(
            property,
            Verdict.TRUE if property == "prolific" else Verdict.FALSE,
            tally.tests,
            proof=found.proof,
            port=found.question.port,
            key=key,
            outputs=tally.outputs,
            confirmed=found.confirmed,
            replay=encoded(found.material),
        )

    def _searched(self, property: str, budget: Budget, tally: _Tally) -> _Found | None:
        found = self._tried(property, budget, tally)
        if found is not None:
            return found
        self.runner.until = budget.until  # what Python showed may have been made smaller, which has a limit of its own
        most = min(budget.tests, _MOST_ALONE.get(property, budget.tests))
        rounds = 0
        while tally.tests < most and not tally.always and (not rounds or not budget.is_over):
            before = tally.tests
            materials = self._materials(property, rounds, most - tally.tests)
            # Where nothing came out so far, it may wait for something: for a long pause.
            silent = rounds and not tally.outputs and self.about.operator.streams
            pauses = self.about.delays[-1:] if silent else self.pauses
            found = self._certain(property, self._among(property, materials, tally, pauses), budget)
            if found is not None:
                return found
            rounds += 1
            if tally.failed >= 3 * _ROUND_ALONE and not tally.outputs:
                return None  # more of the same would take the time of the other properties
            if (rounds >= _EMPTY_ROUNDS and tally.tests == before == 0) or (tally.untold and not tally.outputs):
                return None
        return None

    def _tried(self, property: str, budget: Budget, tally: _Tally) -> _Found | None:
        """What Python shows first, where the code can be run there; it counts when Spark has shown it too."""
        trying = self.runner.trying
        if trying is None or property in _MOST_ALONE or not trying.is_possible:
            return None
        self.runner.in_python = True
        try:
            until = time.monotonic() + _TRYING_SECONDS
            for number in range(max(1, budget.tests // _TRIED)):
                if number and (time.monotonic() > until or budget.is_over):
                    break
                materials = self.maker.round(number, min(_TRIED, budget.tests))
                found = self._among(property, materials, None, self.pauses)
                if found is None:
                    continue
                simplest = self._shrunk(property, found, budget) if self.shrinks else found
                for each in (found,) if simplest is found else (simplest, found):
                    sure = self._confirmed(property, each, 2)
                    if sure is not None:
                        tally.tests += number * _TRIED + materials.index(found.material) + 1
                        tally.outputs += 1
                        return sure
                self.runner.trying = None  # Spark does otherwise
                trying.end()
                break
        finally:
            self.runner.in_python = False
        return None

    def _materials(self, property: str, number: int, most: int) -> list[Material]:
        """The tests of a round. Where few can be run, those that had output before come first."""
        operator = self.about.operator
        called = operator.kind is SparkKind.SINK or operator.engine == "dstream"
        if not operator.streams or (called and self.runner.shares and property not in _MOST_ALONE):
            few, many = (_ROUND_OF_JOBS, _MANY_JOBS) if self.runner.shares else (_ROUND_ALONE, _ROUND_OF_JOBS)
            return self.maker.round(number, min(many if number else few, most))
        if property in _MOST_ALONE or not self.runner.shares:
            size = min(_ROUND_ALONE, most)
            # What makes it raise has no output.
            telling = [] if property == "total" else self._telling
            return telling[number * size : (number + 1) * size] or self.maker.round(number, size)
        if not operator.has_time:
            return self.maker.round(number, min(_LARGE_ROUND if number else _ROUND, most))
        first = 1 if property == "partition_isolated" else 0  # a round with a late record
        return self.maker.round(first + number, min(_TIMED_ROUND if number else _ROUND, most))

    def _asked(self, property: str, material: Material, pause: timedelta) -> list[Question]:
        questions = OF_SINKS if self.about.operator.kind is SparkKind.SINK else QUESTIONS
        return list(questions[property](replace(self.about, pause=pause), material))

    def _among(
        self, property: str, materials: Sequence[Material], tally: _Tally | None, pauses: Sequence[timedelta]
    ) -> _Found | None:
        """The first of some materials that refutes the property; with a tally, runs by themselves show it once."""
        waits = [pauses[number % len(pauses)] for number in range(len(materials))]
        asked = [self._asked(property, each, pause) for each, pause in zip(materials, waits, strict=True)]
        feeds = [feed for every in asked for question in every for feed in question.feeds]
        results = dict(zip(map(repr, feeds), self.runner.screened(feeds), strict=True)) if feeds else {}
        for material, pause, every in zip(materials, waits, asked, strict=True):
            answers = [[results[repr(feed)] for feed in question.feeds] for question in every]
            if tally is not None:
                had_output = tally.add(answers, self._untold(property, answers))
                self.maker.see(material, had_output)
                if had_output and len(self._telling) < _TELLING:
                    self._telling.append(material)
            for question, seen in zip(every, answers, strict=True):
                proof = _judged(question, seen)
                if proof is None:
                    continue
                suspect = _Found(material, question, proof, pause, tuple(seen), self.runner.in_python)
                sure = suspect if tally is None else self._confirmed(property, suspect, 1)
                if sure is not None:
                    return sure
                self._doubt()
        return None

    def _untold(self, property: str, answers: Sequence[Sequence[Result]]) -> str:
        """What the output does not say, though the property is about it."""
        if property != "partition_isolated":
            return ""
        rows = (row for every in answers for each in every if isinstance(each, Gave) for row in each.rows)
        if all(self.about.key_of(row) is not None for row in rows):
            return ""
        key = ", ".join(self.about.operator.key)
        return f"the output does not say which key a row belongs to: it lacks the column {key}"

    def _doubt(self) -> None:
        self._doubts += 1
        if self._doubts >= _DOUBTS:
            self.runner.bulk = False

    def _certain(self, property: str, found: _Found | None, budget: Budget | None) -> _Found | None:
        """What was found, made simpler where there is a budget, if runs by themselves show it twice."""
        if found is None:
            return None
        simplest = found if budget is None or not self.shrinks else self._shrunk(property, found, budget)
        for each in (found,) if simplest is found else (simplest, found):
            sure = self._confirmed(property, each, 2)
            if sure is not None:
                return sure
        self._doubt()
        return None

    def _confirmed(self, property: str, found: _Found, times: int) -> _Found | None:
        """What was found, if runs by themselves show it this number of times, counting those that did already.

        Once is enough where they give exactly what was seen before, in Python or together with others: then it was
        not by chance.
        """
        seen = list(found.seen)
        failed = 0
        while len(seen) < times and not self._settled(property, found, seen):
            runs = tuple(self.runner.alone(feed) for feed in found.question.feeds)
            proof = _judged(found.question, runs)
            if proof is not None:
                seen.append(runs)
                found = replace(found, proof=proof, seen=tuple(seen))
                continue
            failed += 1
            if failed > _FAILURES.get(property, 0):
                return None
        enough = property == "deterministic" or times < 2 or len(seen) < 2 or self._same(seen[0], seen[1])
        return found if enough else None

    def _settled(self, property: str, found: _Found, seen: Sequence[Sequence[Result]]) -> bool:
        """Was it seen twice: before, and in runs by themselves that gave the same?"""
        if property == "deterministic" or not seen or not found.screened:
            return False
        gave = all(isinstance(each, Gave) for each in (*found.screened, *seen[0]))
        return gave and self._same(found.screened, seen[0])

    def _same(self, left: Sequence[Result], right: Sequence[Result]) -> bool:
        """Did every run give the same both times? If not, that is another property."""
        pairs = zip(left, right, strict=True)
        return not any(
            isinstance(one, Gave) and isinstance(other, Gave) and self.about.differ(one.rows, other.rows)
            for one, other in pairs
        )

    def _shrunk(self, property: str, found: _Found, budget: Budget) -> _Found:
        """The simplest material that still shows it, as far as there is time."""
        until = min(time.monotonic() + _SHRINK_SECONDS, max(budget.until, time.monotonic() + 1.0))
        self.runner.until = until
        best, refused = found, {repr(found.material)}
        while time.monotonic() < until:
            some = list(islice(_new(simpler(self.about.operator, best.material), refused), self._candidates))
            if not some:
                break
            refused.update(map(repr, some))
            best = self._among(property, some, None, (found.pause,)) or best
        return best

    @property
    def _candidates(self) -> int:
        return _CANDIDATES if self.runner.shares else 4


def _new(materials: Iterator[Material], known: set[str]) -> Iterator[Material]:
    return (each for each in materials if repr(each) not in known)


def _judged(question: Question, seen: Sequence[Result]) -> OnSpark | None:
    if question.raised is not None:
        return question.raised(seen)
    gave = [each for each in seen if isinstance(each, Gave)]
    return question.judge(gave) if len(gave) == len(seen) else None
