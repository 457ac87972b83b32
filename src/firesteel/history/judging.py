"""Many rules over the events of one application, in one pass.

Only events that some rule needs are parsed: an event's name stands at the beginning of its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import msgspec

from firesteel.errors import PredicateError
from firesteel.history import table as t
from firesteel.history.expressions import Expression, Measures, events_of, fields_of, holds, measures_of
from firesteel.history.logs.reading import Block, Problem, parsed
from firesteel.history.monitors import NOTHING, Break, Letter, Monitors, Predicated, Stated, Whole
from firesteel.history.narrow import DECODERS
from firesteel.history.rule import Rule
from firesteel.history.tracking import EVENTS_OF, STAGE_MEASURES, Event, Tracker, events_for, events_for_measure
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.values.answers import as_bool, ask, raised, returned

Decoder: TypeAlias = Callable[[bytes], Any] | None
_NEW: tuple[str, Decoder] = ("", None)
_NOTED = frozenset({t.APPLICATION_START, t.APPLICATION_END})
AnyRule: TypeAlias = Rule | Stated
AnyMonitors: TypeAlias = Monitors | Predicated
Make: TypeAlias = Callable[[AnyRule, Callable[[], str], Callable[[], Any]], AnyMonitors]


class End(Enum):
    """How a trace ends."""

    HARD = "hard"
    """It is complete: what was to happen and did not is missing."""
    SOFT = "soft"
    """Somebody looked away: what happened until then was all right, but what was to happen may still come."""
    NONE = "none"
    """It is cut off: anything may follow."""


@dataclass(frozen=True)
class Result:
    """What came of one rule on one application."""

    rule: AnyRule
    verdict: Verdict
    broken: tuple[Break, ...] = ()
    doubtful: tuple[Break, ...] = ()
    """What was found after a part of the log that cannot be read: it may be right only because of that part."""
    waiting: int = 0
    """For how many keys something was still to happen, where the trace is not complete."""
    steps: int = 0
    """How many events it was about."""


@dataclass
class About:
    """What is known of an application."""

    id: str = ""
    name: str = ""
    version: str = ""
    events: int = 0
    ended: bool = False
    """Was the end of the application seen?"""
    cut: bool = False
    """Does its last line lack the end?"""
    problems: list[Problem] = field(default_factory=list)
    first_problem: int | None = None
    """How many events were read before the first problem."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Events that are not Spark's, with the place of the first."""


class Judge:
    """Judges the events of one application."""

    def __init__(self, rules: Iterable[AnyRule], make: Make | None = None) -> None:
        self.about = About()
        self.file, self.line = "", 0
        self._known: dict[bytes, tuple[str, Decoder] | None] = {}
        """For the events that were met, how they are read; None where nothing needs them."""
        self.event: Event = {}
        """The event at hand."""
        chosen = tuple(rules)
        made = [(make or monitors_of)(rule, self.place, lambda: self.event) for rule in chosen]
        self.monitors = made
        self._keyed = {entity: [one for one in made if one.rule.each == entity] for entity in t.ENTITIES}
        self._whole = [one for one in made if one.rule.each is None]
        self._hearing = [one for one in made if one.hears and one.rule.each is not None]
        self._own = {id(one): _own(one.rule) for one in made}
        names = {name for one in made for name in one.rule.names if name in t.PROPOSITIONS}
        measures = {name for rule in chosen for name in _measures(rule)}
        entities = {one.rule.each for one in made if one.rule.each is not None}
        entities |= {entity for name in names for entity in t.PROPOSITIONS[name].entities[:1]}
        entities |= {t.MEASURES[name].entity for name in measures}
        if "task_spilled" in names:
            entities.add("stage")
        self.needed = _needed(chosen, measures)
        self._narrow = not any(map(_looks_at_events, chosen))
        tracker = Tracker(entities, measured=bool(measures & STAGE_MEASURES))
        self._handlers = tracker.handlers

    def place(self) -> str:
        """Where the event at hand stands."""
        return f"{self.file}:{self.line}" if self.file else f"event {self.line}"

    # --- reading ---

    def read(self, block: Block) -> None:
        """Judge some lines of a log."""
        about, known, read = self.about, self._known, self._line
        self.file = block.file
        number = block.first - 1
        quiet = not self._whole
        for line in block.lines:
            number += 1
            if line[:10] == b'{"Event":"':
                name = line[10 : line.find(b'"', 10)]
                how = known.get(name, _NEW)
                if how is None:  # nothing needs it, so its line is not parsed
                    if not quiet:
                        self.line = number
                        self._step_whole(NOTHING, {}, {})
                    about.events += 1
                else:
                    self.line = number
                    read(line, name, how)
            elif line.strip():
                self.line = number
                read(line, b"", _NEW)
        if block.cut and about.problems and about.problems[-1].place == self.place():
            # The last line of a file that Spark is still writing, or that was cut off.
            about.problems.pop()
            if not about.problems:
                about.first_problem = None
            about.cut = True

    def _line(self, line: bytes, name: bytes, how: tuple[str, Decoder]) -> None:
        called, decode = how
        if decode is not None:
            try:
                self.take(decode(line), called)
                return
            except msgspec.DecodeError:
                pass  # it is read as a whole, to say what is wrong
        event = parsed(line)
        if isinstance(event, str):
            self.problem(Problem(self.place(), event))
            return
        called = event["Event"]
        if name and name not in self._known:
            needed = self.needed is None or called in self.needed
            self._known[name] = (called, DECODERS.get(called) if self._narrow else None) if needed else None
        self.take(event, called)

    def skip(self) -> None:
        """An event that nothing needs: a state of the whole trace, at which nothing holds."""
        if self._whole:
            self._step_whole(NOTHING, {}, {})
        self.about.events += 1

    def problem(self, problem: Problem) -> None:
        """Something cannot be read."""
        self.about.problems.append(problem)
        if self.about.first_problem is None:
            self.about.first_problem = self.about.events

    # --- judging ---

    def take(self, event: Event, name: str) -> None:
        """Judge one event."""
        self.event = event
        about = self.about
        at = about.events
        about.events = at + 1
        handler = self._handlers.get(name)
        happened: Iterable[Any] = ()
        if handler is not None:
            try:
                happened = handler(event)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                wrong = f"has no {error}" if isinstance(error, KeyError) else f"is not as Spark writes it: {error}"
                self.problem(Problem(self.place(), f"{t.short(name)} {wrong}"))
        if handler is None or name in _NOTED:
            self._note(event, name)
        letter: set[str] = set()
        measures: dict[str, float] = {}
        for one in happened:
            for monitors in self._keyed.get(one.entity, ()):
                if one.over:
                    monitors.over(one.owner, one.names, at)
                elif one.done:
                    monitors.forget(one.owner, one.key)
                elif one.key is not None:
                    own = self._own[id(monitors)]
                    names = one.names if not own else self._letter(own, one.names, event, name, one.measures)
                    monitors.step(one.owner, one.key, names, at)
            if self._hearing and not one.over and one.names & t.EVERYWHERE:
                self._broadcast(one.entity, one.names & t.EVERYWHERE, at)
            if self._whole:
                letter |= one.names
                measures |= one.measures
        if self._whole:
            self._step_whole(frozenset(letter), event, measures)

    def _broadcast(self, entity: str, names: Letter, at: int) -> None:
        for monitors in self._hearing:
            if monitors.rule.each != entity and monitors.hears & names:
                monitors.everywhere(names, at)

    def _step_whole(self, names: Letter, event: Event, measures: Measures) -> None:
        at = self.about.events - 1 if event else self.about.events
        for monitors in self._whole:
            own = self._own[id(monitors)]
            letter = names if not own or not event else self._letter(own, names, event, event["Event"], measures)
            monitors.step(None, None, letter, at)

    def _letter(self, own: Mapping[str, _Own], names: Letter, event: Event, called: str, measures: Measures) -> Letter:
        """The names that hold, those of the user included."""
        holding = [
            name
            for name, (asked, events) in own.items()
            if (events is None or called in events) and self._holds(name, asked, event, measures)
        ]
        return names.union(holding) if holding else names

    def _holds(self, name: str, asked: Any, event: Event, measures: Measures) -> bool:
        if callable(asked):
            return asked_of(name, asked, event, self._where(event))
        try:
            return holds(asked, event, measures)
        except PredicateError as error:
            raise PredicateError(f"the proposition {name!r} cannot be judged {self._where(event)}: {error}") from None

    def _where(self, event: Event) -> str:
        return f"at {self.place()} ({t.short(event['Event'])})"

    def _note(self, event: Event, name: str) -> None:
        about = self.about
        match name:
            case t.APPLICATION_END:
                about.ended = True
            case t.APPLICATION_START:
                about.id, about.name = str(event.get("App ID", "")), str(event.get("App Name", ""))
            case t.LOG_START:
                about.version = str(event.get("Spark Version", ""))
            case _ if name not in self._handlers and name not in t.QUIET and not name.startswith(t.SPARK):
                about.unknown.setdefault(name, self.place())

    # --- the end ---

    @property
    def settled(self) -> bool:
        """Is nothing left to find out, whatever comes?"""
        return all(one.rule.each is None and one.verdict.definite for one in self.monitors)

    def results(self, end: End) -> list[Result]:
        """What came of the rules."""
        return [self._result(monitors, end) for monitors in self.monitors]

    def _result(self, monitors: AnyMonitors, end: End) -> Result:
        first = self.about.first_problem
        return result(monitors, end, self.about.events, first)


def result(monitors: AnyMonitors, end: End, events: int, first_problem: int | None = None) -> Result:
    """The result of one rule, and how many events were seen until then."""
    whole = end is End.HARD and first_problem is None
    if whole:
        monitors.end(max(0, events - 1))
    sure = [one for one in monitors.broken if first_problem is None or one.at < first_problem]
    doubtful = [one for one in monitors.broken if first_problem is not None and one.at >= first_problem]
    waiting = 0 if whole and not isinstance(monitors, Predicated) else monitors.waiting
    known = monitors.verdict
    if sure:
        verdict = Verdict.FALSE
    elif doubtful or not events:
        verdict = Verdict.INCONCLUSIVE
    elif known is Verdict.TRUE or (not waiting and (whole or (end is End.SOFT and first_problem is None))):
        verdict = Verdict.TRUE
    else:
        verdict = Verdict.INCONCLUSIVE
    return Result(monitors.rule, verdict, tuple(sure), tuple(doubtful), waiting, monitors.steps)


_Own = tuple[Callable[[Any], Any] | Expression, frozenset[str] | None]
"""A proposition of the user's, and the only events for which it can hold, where that is known."""


def monitors_of(rule: AnyRule, place: Callable[[], str], state: Callable[[], Any]) -> AnyMonitors:
    """The monitors of a rule; `place` says where the state at hand stands, `state` gives it."""
    if isinstance(rule, Stated):
        return Predicated(rule, place, state)
    return (Whole if rule.each is None else Monitors)(rule, place)


def asked_of(name: str, function: Callable[[Any], Any], state: Any, where: str) -> bool:
    """What a user's proposition says about a state of the trace."""
    who = f"the proposition {name!r} ({name_of(function)})"
    try:
        answer = ask(function, state)
    except Exception as error:
        raised(who, where, error)
    known = as_bool(answer)
    if known is None:
        raise PredicateError(f"{who}, {where}, {returned(answer)}")
    return known


def _own(rule: AnyRule) -> Mapping[str, _Own]:
    if isinstance(rule, Stated):
        return {}
    return {name: (asked, None if callable(asked) else events_of(asked)) for name, asked in rule.own.items()}


def _looks_at_events(rule: AnyRule) -> bool:
    """Does it ask for more of an event than `tracking` does?"""
    return isinstance(rule, Stated) or any(callable(one) or fields_of(one) for one in rule.own.values())


def _measures(rule: AnyRule) -> frozenset[str]:
    if isinstance(rule, Stated):
        return frozenset()
    return frozenset().union(*(measures_of(asked) for asked in rule.own.values() if not callable(asked)))


def _needed(rules: Iterable[AnyRule], measures: Iterable[str]) -> frozenset[str] | None:
    """The events that have to be parsed; None for all."""
    found = {t.LOG_START, t.APPLICATION_START, t.APPLICATION_END}
    for name in measures:
        found |= events_for_measure(name)
    for rule in rules:
        if isinstance(rule, Stated):
            return None
        for name in rule.names & t.PROPOSITIONS.keys():
            found |= events_for(name)
        if rule.each is not None:
            found |= EVENTS_OF[rule.each]
        for _, events in _own(rule).values():
            if events is not None:
                found |= events
            elif rule.each is None:
                return None
    return frozenset(found)
