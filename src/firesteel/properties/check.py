"""Checking a temporal property: generate cases with Hypothesis, run them on Spark, judge them, shrink what fails.

`check` answers with an `Outcome`: data, and no exception for a property that is false. `firesteel.api` raises.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from firesteel import durations
from firesteel.errors import InvalidArgument, described
from firesteel.evidence import Counterexample, Failed, Falsified, Inconclusive, Report, SubjectError, Vacuous
from firesteel.logic.formulas import Formula, Implies
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of, place_of
from firesteel.properties import replay as replays
from firesteel.properties import shrink as shrinking
from firesteel.properties.judge import Judge, Judgement
from firesteel.records import shown
from firesteel.spark.carry import CannotCarry
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.query import Running
from firesteel.spark.structured import Case, at_once
from firesteel.streams import Batch, Stream, Trace

if TYPE_CHECKING:
    from hypothesis import settings as Settings
    from pyspark.sql import SparkSession

    from firesteel.spark.subject import Subject

# Shrinking runs Spark once for every new candidate; after this long what has been found is small enough.
_SHRINK_SECONDS = 60.0
# So many cases are worth a bulk run, of which some are run alone again.
_MANY = 8

Inputs = Mapping[str, Stream]
Progress = Callable[[int, int, bool], None]
"""Told the number of the case, of how many, and whether a counterexample is being shrunk."""


@dataclass(frozen=True)
class Question:
    """What is to be checked, and how."""

    streams: Any
    subject: Subject
    formula: Formula
    spark: SparkSession
    how: Running
    cases: int | None = None
    settings: Settings | None = None
    examples: Sequence[Any] = ()
    replay: str | None = None
    name: str | None = None
    on_inconclusive: str = "fail"
    on_vacuous: str = "fail"
    bulk: bool = True
    progress: Progress = field(default=lambda case, of, shrinking: None)


@dataclass(frozen=True)
class Outcome:
    """A report; and where it is no success, which failure it is, with its cause if that was an exception."""

    report: Report
    failure: type[Failed] | None = None
    cause: BaseException | None = None


def check(question: Question) -> Outcome:
    """Check a property on explicit cases first, then on generated ones; stop at the first that breaks it."""
    _validate(question)
    run = _Run(question)
    if question.replay is not None:
        # One case proves nothing about the others, and need not: it may well be an empty one by now.
        return run.explicit([replays.decoded(question.replay)]) or run.conclusion(may_be_empty=True)
    broken = run.explicit(question.examples)
    if broken is not None:
        return broken
    return run.generated() or run.conclusion()


class _Run:
    """One check under way: what was seen so far."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.judge = Judge(question.spark, question.subject, question.formula, question.how)
        self.cases = 0
        self.records_in = 0
        self.records_out = 0
        self.premises: dict[Implies | None, bool] = {}
        self.undecided: tuple[Inputs, Judgement] | None = None
        self.stray: tuple[Inputs, Judgement] | None = None
        self.failing: tuple[Inputs, Judgement] | None = None
        self.first_failing: tuple[int, Inputs] | None = None
        self.since = 0.0
        self.total = 0
        self.notes: tuple[str, ...] = ()
        self.one_by_one: str | None = None
        self.in_rounds = False
        self.believed: list[tuple[int, Inputs]] = []
        self.drawn: list[Inputs] = []
        self.before_drawn = 0
        self.confirmed: tuple[Inputs, Judgement] | None = None

    # --- cases ---

    def explicit(self, cases: Iterable[Any]) -> Outcome | None:
        """Run cases that were given, not generated; an outcome if one of them ends it."""
        for drawn in cases:
            inputs = as_inputs(drawn)
            self.total += 1
            self.cases += 1
            self.question.progress(self.cases, self.total, False)
            judgement = _in_example(partial(self.judge, inputs))
            self._remember(inputs, judgement)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.first_failing = (self.cases, inputs)
                self.failing = (inputs, judgement)
                return self._broken(shrunk=False)
        return None

    def generated(self) -> Outcome | None:
        """Run generated cases; an outcome if one of them breaks the property."""
        settings = self._settings()
        self.total += settings.max_examples
        if self.question.bulk and settings.max_examples >= _MANY:
            self.drawn, self.before_drawn = self._cases_to_come(settings), self.cases
            self._screen(self.drawn, settings)
        try:
            self._hypothesis(settings, self._case)
        except _Found as found:
            return self._broken(shrunk=True, cut_short=self._shrink(settings, found.choices))
        except _Breaks as broken:
            self.notes = _users_notes(broken)
            return self._broken(shrunk=True)
        except _Enough:
            return self._broken(shrunk=True, cut_short=True)
        return self._rechecked()

    def _rechecked(self) -> Outcome | None:
        """Where a bulk run turned out to be wrong, what passed on its word alone is run by itself after all."""
        if self.judge.disagreement is None:
            return None
        for number, inputs in self.believed:
            judgement = _in_example(partial(self.judge, inputs))
            self._remember(inputs, judgement)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.first_failing, self.failing = (number, inputs), (inputs, judgement)
                return self._broken(shrunk=False)
        return None

    def _hypothesis(self, settings: Any, case: Callable[[Inputs], None]) -> None:
        """Draw cases and do something with each; the same ones in the same order, as long as none fails."""
        from hypothesis import given, note, seed

        def prop(drawn: _Drawn) -> None:
            note(_BEGIN)
            case(as_inputs(drawn.value))

        key = hashlib.sha1(self._key().encode()).digest()
        # What Hypothesis's own pytest plugin does, so that each test keeps its examples apart.
        prop._hypothesis_internal_add_digest = key  # type: ignore[attr-defined]
        drawing: Any = given(self.question.streams.map(lambda value: _Drawn(value)))
        test = drawing(prop)
        if _forced_seed() is None and not settings.derandomize:
            test = seed(int.from_bytes(key[:6], "big"))(test)
        settings(test)()  # outermost: `seed` by itself would do without the example database

    def _cases_to_come(self, settings: Any) -> list[Inputs]:
        """The cases that Hypothesis is going to draw, without running them."""
        from hypothesis import Phase
        from hypothesis import settings as make
        from hypothesis.database import ReadOnlyDatabase

        cases: list[Inputs] = []
        # Read only: every case passes here, and one that failed before must not be forgotten for it.
        database = None if settings.database is None else ReadOnlyDatabase(settings.database)
        phases = [phase for phase in settings.phases if phase is not Phase.shrink]
        self._hypothesis(make(settings, database=database, phases=phases), cases.append)
        return cases

    def _screen(self, cases: list[Inputs], settings: Any) -> None:
        """Run cases together where that can be: those that pass need no run of their own."""
        from hypothesis import Phase

        self.question.progress(0, len(cases), False)
        try:
            self.judge.screen(cases)
            self.in_rounds = Phase.shrink in settings.phases and self.judge.disagreement is None
        except CannotCarry as why:
            self.one_by_one = str(why)
        except SubjectFailure:
            pass  # it will fail alone too, and say so with its case

    # --- shrinking in bulk ---

    def _shrink(self, settings: Any, choices: tuple[Any, ...]) -> bool:
        """Look for a simpler case that fails, with many candidates in one run; was that cut short?"""
        assert self.failing is not None
        database = _candidates(settings.database)
        search = shrinking.Search(
            shrinking.Candidate(choices, self.failing[0]), partial(self._redrawn, settings, database), self._fail
        )
        more = True
        while more and not self._too_long():
            self.question.progress(self.cases, self.total, True)
            more = search.round()
        # Once more as an example of Hypothesis, which collects what the user's predicates note.
        database.offer([search.found.choices])
        try:
            self._hypothesis(_reusing(settings, database, 1), self._fails_again)
        except _Breaks as broken:
            self.notes = _users_notes(broken)
        database.keep(search.found.choices)
        return more

    def _fails_again(self, inputs: Inputs) -> None:
        from hypothesis import note

        judgement = self.judge(inputs, confirm=False)
        if judgement.verdict is Verdict.FALSE:
            self.failing = (inputs, judgement)
            note(_END)
            raise _Breaks

    def _redrawn(self, settings: Any, database: Any, wanted: Sequence[tuple[Any, ...]]) -> list[shrinking.Candidate]:
        """The cases that some choices draw, as Hypothesis would draw them from its database."""
        from hypothesis.control import current_build_context
        from hypothesis.errors import Unsatisfiable

        drawn: list[shrinking.Candidate] = []

        def collect(inputs: Inputs) -> None:
            choices = tuple(current_build_context().data.choices)
            drawn.append(shrinking.Drawn(choices, inputs, asked=database.asked))

        database.offer(wanted)
        with suppress(Unsatisfiable):  # none of them is what the generator makes
            self._hypothesis(_reusing(settings, database, len(wanted)), collect)
        return drawn

    def _fail(self, candidates: Sequence[shrinking.Candidate]) -> list[shrinking.Candidate]:
        """Those candidates that break the property."""
        unknown = [c.inputs for c in candidates if not self.judge.knows(c.inputs)]
        if unknown:
            with suppress(CannotCarry, SubjectFailure):
                self.judge.screen(unknown, samples=0)
        return [candidate for candidate in candidates if self._fails(candidate.inputs)]

    def _fails(self, inputs: Inputs) -> bool:
        if not self.judge.knows(inputs) and self._too_long():
            return False
        judgement = _in_example(partial(self.judge, inputs, confirm=False))
        return judgement.verdict is Verdict.FALSE

    def _too_long(self) -> bool:
        return time.monotonic() - self.since > _SHRINK_SECONDS

    def _case(self, inputs: Inputs) -> None:
        from hypothesis import note
        from hypothesis.control import current_build_context

        if self.failing is None:
            self.cases += 1
        elif self._too_long() and not self.judge.knows(inputs):
            raise _Enough
        self.question.progress(self.cases, self.total, self.failing is not None)
        if self.failing is None and not self.judge.knows(inputs):
            self.judge.run_ahead(self._next_cases(inputs))
        if self.failing is None and self.judge.screened(inputs):
            self.believed.append((self.cases, inputs))
        judgement = self.judge(inputs)
        if self.failing is None:
            self._remember(inputs, judgement)
        if judgement.verdict is Verdict.FALSE or judgement.error is not None:
            if self.first_failing is None:
                self.first_failing = (self.cases, inputs)
                self.since = time.monotonic()
            self.failing = (inputs, judgement)
            if self.in_rounds and self.judge.disagreement is None and judgement.error is None:
                self.confirmed = self.failing
                raise _Found(tuple(current_build_context().data.choices))
            note(_END)
            raise _Breaks

    def _next_cases(self, inputs: Inputs) -> list[Inputs]:
        """This case and those after it, as many as may run at once, where they are known."""
        place = self.cases - 1 - self.before_drawn
        if place >= len(self.drawn) or self.drawn[place] != inputs:
            return []
        return self.drawn[place : place + at_once(self.question.spark)]

    def _remember(self, inputs: Inputs, judgement: Judgement) -> None:
        self.records_in += sum(len(batch) for stream in inputs.values() for batch in stream)
        self.records_out += sum(len(b) for instant in judgement.trace for b in instant.outputs.values())
        self.records_out += sum(len(instant.recorded_state or ()) for instant in judgement.trace)
        for implication, held in judgement.premises.items():
            self.premises[implication] = self.premises.get(implication, False) or held
        if judgement.verdict is Verdict.INCONCLUSIVE and judgement.error is None and self.undecided is None:
            self.undecided = (inputs, judgement)
        if judgement.trace.outside and not judgement.settled and self.stray is None:
            self.stray = (inputs, judgement)

    # --- outcomes ---

    def _broken(self, *, shrunk: bool, cut_short: bool = False) -> Outcome:
        """The case that failed, run once more by itself: what is shown was seen twice."""
        assert self.failing is not None and self.first_failing is not None
        inputs, judgement = self.failing
        again = _in_example(partial(self.judge.again, inputs, judgement))
        number, original = self.first_failing
        found = f"case {number} of {self.total}"
        if shrunk and original != inputs and _size(original) != _size(inputs):
            found += f"; shrunk from {_size(original)}"
        if cut_short:
            found += f"; shrinking was cut short after {_SHRINK_SECONDS:.0f} s"
        if judgement.error is not None and again.error is not None:
            return self._subject_error(inputs, again, found)
        if judgement.error is not None:
            reason = f"the same input was run twice, and only the first run failed: {judgement.error}"
            return self._outcome(Inconclusive, inputs, again, reason, {"found in": found})
        if again.verdict is not Verdict.FALSE and self.confirmed is not None and self.confirmed is not self.failing:
            self.judge.disagree(judgement.trace, again.trace)
            self.failing = self.confirmed  # that one was seen alone before
            return self._broken(shrunk=False)
        if again.verdict is not Verdict.FALSE:
            reason = (
                "the same input was judged twice, and only the first run broke the property: the subject gives "
                "different outputs for it. First run: " + "; ".join(map(_outputs_text, judgement.trace))
            )
            return self._outcome(Inconclusive, inputs, again, reason, {"found in": found})
        return self._outcome(Falsified, inputs, again, "", {"found in": f"{found}; seen again when run alone"})

    def _subject_error(self, inputs: Inputs, judgement: Judgement, found: str) -> Outcome:
        reason = str(judgement.error)
        outcome = self._outcome(SubjectError, inputs, judgement, reason, {"found in": found})
        return replace(outcome, cause=judgement.error.__cause__ if judgement.error else None)

    def conclusion(self, *, may_be_empty: bool = False) -> Outcome:
        """All cases are run, and none is false: is it true, undecided, or empty?"""
        question = self.question
        if self.undecided is not None and question.on_inconclusive == "fail":
            inputs, judgement = self.undecided
            return self._outcome(Inconclusive, inputs, judgement, self._too_short(inputs), {})
        if self.stray is not None and question.on_inconclusive == "fail":
            return self._outcome(Inconclusive, *self.stray, _strays_text(self.stray[1].trace), {})
        empty = self._emptiness()
        if empty is not None and question.on_vacuous == "fail" and not may_be_empty:
            report = Report(Verdict.INCONCLUSIVE, self.cases, None, (empty,), question.formula, self._setting())
            return Outcome(report, Vacuous)
        verdict = Verdict.TRUE if self.undecided is None else Verdict.INCONCLUSIVE
        notes = self.notes if self.stray is None else (*self.notes, _strays_text(self.stray[1].trace))
        return Outcome(Report(verdict, self.cases, None, notes, question.formula, self._setting()))

    def _too_short(self, inputs: Inputs) -> str:
        formula = self.question.formula
        length = Case(inputs).instants(self.question.how)
        noun = "batch" if self.question.how.over is None else "window"
        needs = formula.required_length
        if needs is None:
            shortest = formula.shortest_true
            needs_text = (
                f"it needs {shortest} at the least" if shortest > length else "it looks further ahead than that"
            )
            if "always" in repr(formula) and shortest <= length:
                needs_text += f"; an operator without a bound is never sure about its last {noun}: give it one"
        else:
            needs_text = f"{needs} are always enough"
        return f"a stream of {counted(length, noun)} is too short to decide the property: {needs_text}"

    def _emptiness(self) -> str | None:
        if not self.records_in:
            return "the generator made only empty batches, so nothing was checked"
        if not self.records_out:
            return "the subject put out nothing at all in any case, so nothing was checked"
        unmet = [implication for implication, held in self.premises.items() if not held]
        if unmet:
            name = repr(unmet[0].premise) if unmet[0] is not None else "of an implication made by let or consume"
            return f"the premise {name} never held in any case, so the property says nothing"
        return None

    def _outcome(
        self, failure: type[Failed], inputs: Inputs, judgement: Judgement, reason: str, setting: Mapping[str, str]
    ) -> Outcome:
        verdict = judgement.verdict if failure is Falsified else Verdict.INCONCLUSIVE
        explanation = judgement.explanation if failure is Falsified else None
        # A subject that failed left the batches so far behind, and no windows.
        unit = "window" if self.question.how.over is not None and failure is not SubjectError else "batch"
        counterexample = Counterexample(
            inputs, judgement.trace, reason, replays.encoded(inputs), explanation, judgement.answers, unit
        )
        setting = {**self._setting(), **setting}
        formula = self.question.formula
        return Outcome(Report(verdict, self.cases, counterexample, self.notes, formula, setting, self._call()), failure)

    def _call(self) -> str:
        """The subject's part of a line of code that runs it."""
        how, name = self.question.how, name_of(self.question.subject)
        plain = Running()
        options = [
            f"{option}={text}"
            for option, value, usual, text in (
                ("output_mode", how.output_mode, plain.output_mode, repr(how.output_mode)),
                ("batch_interval", how.batch_interval, plain.batch_interval, repr(durations.text(how.batch_interval))),
                ("over", how.over, plain.over, f"fs.{how.over!r}"),
                ("close", how.close, plain.close, repr(how.close)),
                ("state", how.state, plain.state, repr(how.state)),
            )
            if value != usual
        ]
        return ", ".join([name if name.isidentifier() else "subject", *options])

    def _setting(self) -> dict[str, str]:
        mode = self.question.how.output_mode
        modes = mode if isinstance(mode, str) else ", ".join(f"{name}: {m}" for name, m in mode.items())
        place = _relative(place_of(self.question.subject))
        over = {} if self.question.how.over is None else {"over": repr(self.question.how.over)}
        why = self.judge.disagreement or self.one_by_one
        run = {} if why is None else {"run": f"one case at a time: {why}"}
        return over | {
            "subject": f"{name_of(self.question.subject)}{f' ({place})' if place else ''}, structured, {modes} mode, "
            f"Spark {self.question.spark.version}",
            **run,
        }

    # --- Hypothesis ---

    def _settings(self) -> Settings:
        from hypothesis import HealthCheck, Phase, settings

        base = self.question.settings if self.question.settings is not None else settings()
        cases = self.question.cases if self.question.cases is not None else base.max_examples
        return settings(
            base,
            max_examples=cases,
            deadline=None,
            # What firesteel explains, it explains better; and every attempt costs a run.
            phases=[phase for phase in base.phases if phase is not Phase.explain],
            suppress_health_check=[*base.suppress_health_check, HealthCheck.too_slow, HealthCheck.data_too_large],
            report_multiple_bugs=False,
        )

    def _key(self) -> str:
        """What this property is called in the example database: the same from run to run."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        subject, formula = name_of(self.question.subject), repr(self.question.formula)
        return "\n".join([test, self.question.name or "", subject, formula])


class _Drawn:
    """A drawn value as Hypothesis shows it: it prints what it drew, and a stream may hold a million records."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return _size(as_inputs(self.value))


def _in_example(action: Callable[[], Judgement]) -> Judgement:
    """Do something as one example of Hypothesis: the user's predicates may note and aim, which needs one."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    done: list[Judgement] = []

    @settings(
        max_examples=1, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.none())
    def example(_: None) -> None:
        done.append(action())

    example()
    return done[0]


class _Breaks(Exception):
    """A case that breaks the property: how Hypothesis is told."""


class _Enough(BaseException):
    """Ends the search for a smaller case: no Exception, as Hypothesis would take that for one more failure."""


class _Found(BaseException):
    """A case that fails, and the choices that Hypothesis drew it with."""

    def __init__(self, choices: tuple[Any, ...]) -> None:
        self.choices = choices


def _reusing(settings: Any, database: Any, most: int) -> Any:
    """Settings with which Hypothesis draws what the database offers, and nothing else."""
    from hypothesis import Phase
    from hypothesis import settings as make

    return make(settings, derandomize=False, database=database, phases=[Phase.reuse], max_examples=most + 1)


def _candidates(users: Any) -> Any:
    """A database that offers choices to Hypothesis to draw, one after the other, and keeps the best in the user's."""
    from hypothesis.database import ExampleDatabase, choices_to_bytes

    class Candidates(ExampleDatabase):
        def __init__(self) -> None:
            super().__init__()
            self.offered: dict[bytes, tuple[Any, ...]] = {}
            self.waiting: list[bytes] = []
            self.key = b""

        def offer(self, wanted: Sequence[tuple[Any, ...]]) -> None:
            self.offered = {choices_to_bytes(choices): choices for choices in wanted}
            # The order in which Hypothesis takes them.
            self.waiting = sorted(self.offered, key=lambda text: (len(text), text))

        @property
        def asked(self) -> tuple[Any, ...]:
            """The choices that are being drawn: every one before was taken out, as it did not fail."""
            return self.offered[self.waiting[0]]

        def keep(self, choices: tuple[Any, ...]) -> None:
            if users is not None and self.key:
                users.save(self.key, choices_to_bytes(choices))

        def fetch(self, key: bytes) -> Iterable[bytes]:
            if key.endswith((b".secondary", b".pareto")):
                return []
            self.key = key
            return list(self.offered)

        def save(self, key: bytes, value: bytes) -> None:
            """Nothing fails here: what does is known only afterwards."""

        def delete(self, key: bytes, value: bytes) -> None:
            if self.waiting and self.waiting[0] == value:
                self.waiting.pop(0)

    return Candidates()


_BEGIN, _END = "firesteel: the user's notes begin", "firesteel: the user's notes end"


def _users_notes(error: BaseException) -> tuple[str, ...]:
    """What the user's own functions noted with `hypothesis.note` in the last run of the failing case."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    if _BEGIN not in notes or _END not in notes:
        return ()
    return tuple(notes[notes.index(_BEGIN) + 1 : notes.index(_END)])


def _forced_seed() -> Any:
    """The seed of pytest's --hypothesis-seed, which then decides alone."""
    import hypothesis.core

    return getattr(hypothesis.core, "global_force_seed", None)


def as_inputs(drawn: Any) -> Inputs:
    """A drawn value as the streams of a case: one is called `input`."""
    match drawn:
        case Stream():
            return {"input": drawn}
        case Mapping() if drawn and all(isinstance(s, Stream) for s in drawn.values()):
            return {str(name): stream for name, stream in drawn.items()}
        case Batch():
            raise InvalidArgument(
                f"{described('streams', drawn)} is a batch, where a stream is meant: write Stream(schema, [batch]), or "
                "ss.always(batches, during=n) for a strategy"
            )
        case _:
            raise InvalidArgument(
                f"{described('streams', drawn)} is no stream: give a stream, or a dict of streams by input name; "
                "to fs.for_all a strategy of these (ss.always(...), st.fixed_dictionaries({...}))"
            )


def _validate(question: Question) -> None:
    from hypothesis import currently_in_test_context
    from hypothesis.strategies import SearchStrategy

    if currently_in_test_context():
        raise InvalidArgument(
            "fs.for_all draws its own cases, so it cannot be called inside @given: remove @given and hand the strategy "
            "to fs.for_all(strategy, subject, formula)"
        )
    if question.replay is None and not isinstance(question.streams, SearchStrategy):
        raise InvalidArgument(
            f"{described('streams', question.streams)} is no strategy: write ss.always(...) or another strategy of "
            "streams; to run one stream, use fs.run(stream, subject)"
        )
    for option, value in (("on_inconclusive", question.on_inconclusive), ("on_vacuous", question.on_vacuous)):
        if value not in ("fail", "pass"):
            raise InvalidArgument(f"{described(option, value)} is not possible: write 'fail' or 'pass'")
    if question.cases is not None and (isinstance(question.cases, bool) or not question.cases >= 1):
        raise InvalidArgument(f"{described('cases', question.cases)} is not possible: write a whole number from 1")


def _size(inputs: Inputs) -> str:
    length = max(len(stream) for stream in inputs.values())
    return f"{_batches(length)}, {counted(sum(len(b) for s in inputs.values() for b in s), 'record')}"


def _batches(count: int) -> str:
    return counted(count, "batch")


def counted(count: int, noun: str) -> str:
    """`1 window`, `2 batches`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{count} {noun if count == 1 else plural}"


def _first(batch: Batch, most: int = 3) -> Sequence[Any]:
    return batch.records[:most] if type(batch) is Batch else [batch]


def _strays_text(trace: Trace) -> str:
    """Output that no window holds, in words."""
    strays = sum(len(batch) for batch in trace.outside.values())
    some = [f"{name} {shown(record)}" for name, batch in trace.outside.items() for record in _first(batch)]
    return (
        f"{counted(strays, 'output record')} {'lies' if strays == 1 else 'lie'} in none of the input's windows, so the "
        f"property never saw {'it' if strays == 1 else 'them'}: {', '.join(some[:3])}. If that is right, let the "
        "stream cover more time (ss.timed(..., close_after=...)), name another event-time column (on=...), or "
        "pass on_inconclusive='pass'"
    )


def _outputs_text(instant: Any) -> str:
    return f"batch {instant.index} " + ", ".join(f"{name}={batch!r}" for name, batch in instant.outputs.items())


def _relative(place: str | None) -> str | None:
    if place is None:
        return None
    inside = os.path.relpath(place)
    return place if inside.startswith("..") else inside
