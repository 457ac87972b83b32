"""The events behind a violation: a second reading of the trace, up to where the rule was broken.

The first reading remembers an id and a state for each key. What led there is worth a second look only for the few keys
that break a rule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from firesteel.evidence.logs import SeenEvent, Violation
from firesteel.history import table as t
from firesteel.history.judging import AnyMonitors, AnyRule, Judge, Result, monitors_of
from firesteel.history.monitors import Break, Letter, Monitors, Stated, Transitions
from firesteel.history.rule import Rule
from firesteel.history.tracking import Event

DETAILED = 20
"""For how many violations of a rule the events are looked up; the others are listed."""
_FIRST, _LAST = 4, 8

Found = tuple[int, Hashable, Hashable]
"""The number of a rule, an owner and a key."""


@dataclass
class Trail:
    """What is worth knowing about a key."""

    first: list[SeenEvent] = field(default_factory=list)
    last: deque[SeenEvent] = field(default_factory=lambda: deque(maxlen=_LAST))
    count: int = 0

    def add(self, seen: SeenEvent) -> None:
        self.count += 1
        if len(self.first) < _FIRST:
            self.first.append(seen)
        else:
            self.last.append(seen)

    @property
    def events(self) -> tuple[SeenEvent, ...]:
        return (*self.first, *self.last)


def wanted_of(results: Iterable[Result]) -> dict[Found, int]:
    """The keys to look for, and the event up to which."""
    found: dict[Found, int] = {}
    for number, result in enumerate(results):
        for broken in (*result.broken, *result.doubtful)[:DETAILED]:
            found[number, broken.owner, broken.key] = broken.at
    return found


class Finder:
    """Reads a trace again, and gathers the events of some keys."""

    def __init__(self, results: list[Result]) -> None:
        self._wanted = wanted_of(results)
        self.trails: dict[Found, Trail] = {found: Trail() for found in self._wanted}
        self.context = Context({key for _, _, key in self._wanted})
        self._rules = [result.rule for result in results]
        self.judge = Judge(self._rules, self._made)
        if self.judge.needed is not None:
            self.judge.needed |= Context.EVENTS
        self.last = max(self._wanted.values(), default=-1)

    def take(self, event: Event, name: str) -> None:
        self.context.note(event, name)
        self.judge.take(event, name)

    @property
    def done(self) -> bool:
        return self.judge.about.events > self.last

    def _made(self, rule: AnyRule, place: Callable[[], str], state: Callable[[], Any]) -> AnyMonitors:
        number = next(number for number, one in enumerate(self._rules) if one is rule)
        if isinstance(rule, Stated):
            return monitors_of(rule, place, state)
        return _recorded(rule, place, state, number, self)

    def seen(self, number: int, owner: Hashable, key: Hashable, letter: Letter, names: frozenset[str], at: int) -> None:
        """A key took a step that matters."""
        judge = self.judge
        called = t.short(str(judge.event.get("Event", "")))
        held = tuple(sorted(letter & names))
        self.trails[number, owner, key].add(SeenEvent(at + 1, judge.place(), called, held))


def _recorded(
    rule: Rule, place: Callable[[], str], state: Callable[[], Any], number: int, finder: Finder
) -> AnyMonitors:
    """Monitors that tell which steps changed the state of a key."""
    made = monitors_of(rule, place, state)
    assert isinstance(made, Monitors)
    moves = Transitions(rule.automaton)
    states: dict[tuple[Hashable, Hashable], int] = {}
    step = made.step

    def told(owner: Hashable, key: Hashable, letter: Letter, at: int) -> None:
        if (number, owner, key) in finder.trails:
            before = states.get((owner, key), 0)
            after = states[owner, key] = moves.after(before, letter)
            if after != before and letter & rule.names:
                finder.seen(number, owner, key, letter, rule.names, at)
        step(owner, key, letter, at)

    made.step = told  # type: ignore[method-assign]
    return made


class Context:
    """Where stages and jobs come from: call sites and descriptions, of those that are asked for."""

    EVENTS = frozenset({t.JOB_START, t.SQL_START, t.QUERY_STARTED, t.QUERY_PROGRESS})

    def __init__(self, keys: Iterable[Hashable]) -> None:
        self._numbers = {
            part for key in keys for part in (key if isinstance(key, tuple) else (key,)) if isinstance(part, int)
        }
        self._sql: dict[int, str] = {}
        self.stages: dict[int, tuple[str, str]] = {}
        """By stage: where it was made, and the description of its job."""
        self.jobs: dict[int, tuple[str, str]] = {}
        self.queries: dict[str, str] = {}
        """By query: its name."""

    def note(self, event: Event, name: str) -> None:
        match name:
            case t.SQL_START:
                self._sql[event["executionId"]] = str(event.get("description", ""))
                if len(self._sql) > 10_000:
                    del self._sql[next(iter(self._sql))]
            case t.JOB_START:
                self._job(event)
            case t.QUERY_STARTED:
                self.queries[event["id"]] = str(event.get("name") or "")
            case t.QUERY_PROGRESS:
                self.queries.setdefault(event["progress"]["id"], str(event["progress"].get("name") or ""))

    def _job(self, event: Event) -> None:
        properties: Mapping[str, Any] = event.get("Properties") or {}
        execution = properties.get("spark.sql.execution.id")
        sql = self._sql.get(int(execution), "") if execution is not None else ""
        description = str(properties.get("spark.job.description") or sql)
        if event["Job ID"] in self._numbers:
            self.jobs[event["Job ID"]] = (str(properties.get("callSite.short") or ""), description)
        for info in event.get("Stage Infos", ()):
            if info["Stage ID"] in self._numbers:
                self.stages[info["Stage ID"]] = (str(info.get("Stage Name", "")), description)

    def of(self, entity: str, key: Hashable) -> tuple[str, str]:
        """The call site, and the description."""
        match entity, key:
            case "stage", int():
                return self.stages.get(key, ("", ""))
            case "job", int():
                return self.jobs.get(key, ("", ""))
            case "task" | "dependency", (int() as stage, *_):
                return self.stages.get(stage, ("", ""))
            case "sql", int():
                return "", self._sql.get(key, "")
            case "query", str():
                return "", self.queries.get(key, "")
            case _:
                return "", ""


def violation(
    broken: Break, monitors: AnyMonitors, trail: Trail | None, context: Context | None, *, detailed: bool
) -> Violation:
    """A violation with all that is known about it."""
    entity = monitors.rule.each or ""
    call_site, description = ("", "") if context is None else context.of(entity, broken.key)
    key = broken.key if isinstance(broken.key, tuple) else () if broken.key is None else (broken.key,)
    trail = trail or Trail()
    return Violation(
        entity,
        key,
        broken.at + 1,
        broken.place,
        broken.ended,
        monitors.failed(broken) if detailed else (),
        trail.events,
        trail.count - len(trail.events),
        call_site,
        description,
    )
