"""Rules on a source: which kind of trace it is, one reading of it, and what was found as evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import chain, islice
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.events import Listener, Reading, nobody
from firesteel.evidence.logs import RuleJudged, Traced, Verified, Violation
from firesteel.evidence.report import Asked, Claimed, Report
from firesteel.history.finding import DETAILED, Finder, violation
from firesteel.history.judging import AnyMonitors, AnyRule, End, Judge, Result, result
from firesteel.history.logs.reading import Block, EventLog, Problem, parsed
from firesteel.history.monitors import Stated
from firesteel.history.plain import PlainJudge
from firesteel.history.rule import Predicate, Rule
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.ltl.stated import stated
from firesteel.logic.pptl import formulas as pptl
from firesteel.logic.verdicts import Verdict
from firesteel.values.traces import Trace

OLDEST, NEWEST = (3, 0), (4, 3)
"""The versions of Spark whose events are known: others are read too, with a note."""


def rules_of(given: Any, propositions: Mapping[str, Predicate] | None) -> tuple[AnyRule, ...]:
    """The rules that a user handed over: one or several, ready ones, formulas, or texts of formulas."""
    if propositions is not None and not isinstance(propositions, Mapping):
        raise InvalidArgument(
            f"{described('propositions', propositions)} is not a mapping: write "
            '{"slow": lambda event: ..., "retried": "task.attempt > 1"}'
        )
    several = given if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise InvalidArgument(f"{described('rule', given)} has no rule: write a rule, or a list of rules")
    made = tuple(_rule(one, propositions or {}) for one in several)
    used = {name for one in made for name in one.names}
    for name in (propositions or {}).keys() - used:
        raise InvalidArgument(
            f"{described(f'propositions[{name!r}]', (propositions or {})[name])} is given, and no rule has that name"
        )
    return made


def _rule(given: Any, propositions: Mapping[str, Predicate]) -> AnyRule:
    match given:
        case Rule():
            mine = {name: value for name, value in propositions.items() if name in given.names}
            if not mine:
                return given
            both = {**given.propositions, **mine}
            return Rule(given.name, given.formula, given.each, given.says, both, given.breaks, given.keeps)
        case str() | pptl.Formula():
            made = Rule(str(given), str(given))
            mine = {name: value for name, value in propositions.items() if name in made.names}
            return Rule(str(given), str(given), propositions=mine)
        case Formula() | bool():
            return Stated(stated(given, "rule"))
        case _ if callable(given):
            return Stated(stated(given, "rule"))
    raise InvalidArgument(
        f"{described('rule', given)} is not a rule: write one of firesteel.rules, the text of a formula such as "
        '"[] (job_started -> <> job_succeeded)", or a formula'
    )


def verified(source: Any, rules: tuple[AnyRule, ...], tell: Listener = nobody) -> Verified:
    """Judge all traces of a source."""
    match source:
        case EventLog():
            _refuse_names(rules)
            return Verified(tuple(_log(one, rules, tell) for one in source.applications))
        case Trace():
            return Verified((_plain(source, rules, "a trace of fs.run", "instant"),))
        case str() | bytes():
            write = f"fs.event_log({source!r}), or msvl.load({source!r}) if it is a program"
            raise InvalidArgument(f"{described('source', source)} is a text: write {write}")
        case Mapping() | Set():
            raise InvalidArgument(f"{described('source', source)} is one state, not a trace: write a list of them")
        case Iterable():
            return Verified((_iterable(source, rules),))
    raise InvalidArgument(
        f"{described('source', source)} is not a trace: write fs.event_log(path), fs.events(spark), a trace of fs.run, "
        "or a list of mappings, sets or objects"
    )


def report_of(found: Verified, function: str) -> Report:
    """The report on what was found."""
    verdicts = [one.verdict for one in found.traces]
    verdict = Verdict.FALSE if Verdict.FALSE in verdicts else min(verdicts, key=lambda one: one.value)
    notes = tuple(note for one in found.traces for note in one.notes)
    cases = sum(len(one.rules) for one in found.traces)
    return Report(verdict, cases, found, notes, Asked(function, Claimed.RULE))


def says_nothing(found: Verified) -> bool:
    """Did no rule see anything that it is about?"""
    return all(rule.each is not None and not rule.steps for one in found.traces for rule in one.rules)


Again: TypeAlias = Callable[[], Iterator[tuple[str, int, Mapping[str, Any]]]]
"""Reads a trace once more: the file, the line and the event."""


def judged_so_far(source: str, judge: Judge, end: End, again: Again) -> Traced:
    """What is known of an application that is still being judged."""
    return _traced(source, judge, end, (), again)


def _refuse_names(rules: Iterable[AnyRule]) -> None:
    for rule in rules:
        if isinstance(rule, Rule):
            rule.refuse_unknown_names()


# --- event logs ---------------------------------------------------------------------------------------------------


def _log(log: EventLog, rules: tuple[AnyRule, ...], tell: Listener) -> Traced:
    judge = Judge(rules)
    total = log.size
    for block in log.blocks():
        if isinstance(block, Problem):
            judge.problem(block)
            continue
        judge.read(block)
        tell(Reading(judge.about.events, block.size, total))
        if judge.settled and not judge.about.problems:
            break
    end = End.HARD if judge.about.ended else End.SOFT if log.looked_away else End.NONE

    def again() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        for block in log.blocks():
            if isinstance(block, Block):
                for number, line in enumerate(block.lines, block.first):
                    event = parsed(line) if line.strip() else ""
                    if isinstance(event, dict):
                        yield block.file, number, event

    return _traced(log.path, judge, end, _notes(judge, end, log.running), again)


def _traced(
    source: str,
    judge: Judge,
    end: End,
    notes: Iterable[str],
    again: Again | None,
) -> Traced:
    about = judge.about
    results = judge.results(end)
    finder = _found(results, again) if any(one.broken or one.doubtful for one in results) else None
    rules = tuple(
        _judged(number, result, monitors, finder)
        for number, (result, monitors) in enumerate(zip(results, judge.monitors, strict=True))
    )
    return Traced(
        source,
        about.events,
        end is not End.NONE,
        rules,
        about.id,
        about.name,
        about.version,
        tuple(map(str, about.problems)),
        (*notes, *_vacuous(results)),
    )


def _found(results: list[Result], again: Again | None) -> Finder | None:
    if again is None:
        return None
    finder = Finder(results)
    needed = finder.judge.needed
    for file, line, event in again():
        finder.judge.file, finder.judge.line = file, line
        finder.take(event, event["Event"]) if needed is None or event["Event"] in needed else finder.judge.skip()
        if finder.done:
            break
    return finder


def _judged(number: int, result: Result, monitors: AnyMonitors, finder: Finder | None) -> RuleJudged:
    def told(broken: Iterable[Any]) -> tuple[Violation, ...]:
        made = []
        for place, one in enumerate(broken):
            trail = None if finder is None else finder.trails.get((number, one.owner, one.key))
            context = None if finder is None else finder.context
            made.append(violation(one, monitors, trail, context, detailed=place < DETAILED))
        return tuple(made)

    rule = result.rule
    return RuleJudged(
        rule.name,
        str(rule.formula),
        rule.each,
        rule.says,
        result.verdict,
        told(result.broken),
        told(result.doubtful),
        result.waiting,
        result.steps,
    )


def _notes(judge: Judge, end: End, running: bool) -> Iterator[str]:
    about = judge.about
    if not about.events:
        yield "the log is empty: it has no event"
    elif end is End.NONE and not judge.settled:
        how = "its last line is cut off" if about.cut else "it ends without the end of the application"
        why = "the application is still running, or was killed" if running else "it may have been cut off"
        yield f"the log is not complete: {how}; {why}"
    version = _version(about.version)
    if version is not None and not OLDEST <= version <= NEWEST:
        yield (
            f"the log was written by Spark {about.version}, and firesteel knows the events of {_dotted(OLDEST)} to "
            f"{_dotted(NEWEST)}: what other versions changed is not seen"
        )
    for name, place in about.unknown.items():
        yield f"the event {name} ({place}) is not one of Spark's: no proposition comes from it"


def _version(text: str) -> tuple[int, int] | None:
    parts = text.split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit() else None


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _vacuous(results: Iterable[Result]) -> Iterator[str]:
    silent: dict[str, list[str]] = {}
    for one in results:
        if one.rule.each is not None and not one.steps:
            silent.setdefault(one.rule.each, []).append(one.rule.name)
    for each, names in silent.items():
        says = "says" if len(names) == 1 else "say"
        yield f"there was no {each}, so {', '.join(names)} {says} nothing here"


# --- other traces -------------------------------------------------------------------------------------------------


def _iterable(source: Iterable[Any], rules: tuple[AnyRule, ...]) -> Traced:
    states = iter(source)
    beginning = list(islice(states, 1))
    first = beginning[0] if beginning else None
    rest = chain(beginning, states)
    if isinstance(first, Mapping) and isinstance(first.get("Event"), str):
        return _events(rest, rules, None if states is source else source)
    return _plain(rest, rules, "the trace", "state")


def _events(states: Iterable[Any], rules: tuple[AnyRule, ...], again: Iterable[Any] | None) -> Traced:
    """Spark's events, as mappings."""
    _refuse_names(rules)
    judge = Judge(rules)
    for number, event in enumerate(states, 1):
        judge.line = number
        if not isinstance(event, Mapping) or not isinstance(event.get("Event"), str):
            judge.problem(Problem(f"event {number}", f'{described("state", event)} is not an event: it has no "Event"'))
            continue
        judge.take(event, event["Event"])
        if judge.settled:
            break
    end = End.HARD if judge.about.ended else End.NONE

    def read_again() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        for number, event in enumerate(again or (), 1):
            if isinstance(event, Mapping) and isinstance(event.get("Event"), str):
                yield "", number, event

    return _traced("the events", judge, end, _notes(judge, end, False), None if again is None else read_again)


def _plain(states: Iterable[Any], rules: tuple[AnyRule, ...], source: str, unit: str) -> Traced:
    judge = PlainJudge(rules)
    for state in states:
        judge.take(state)
        if judge.settled:
            break
    judge.refuse_names_never_met()
    results = [result(monitors, End.HARD, judge.states) for monitors in judge.monitors]
    made = tuple(
        _judged(number, one, monitors, None)
        for number, (one, monitors) in enumerate(zip(results, judge.monitors, strict=True))
    )
    notes = () if judge.states else ("the trace is empty",)
    return Traced(source, judge.states, True, made, notes=notes, unit=unit)
