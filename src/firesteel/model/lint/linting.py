"""A lint of a program: every rule is asked, and what it finds is put into words."""

from __future__ import annotations

import linecache
import re
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.lint import Lint, Linted
from firesteel.model.lint.flows import Help
from firesteel.model.lint.levels import Facts
from firesteel.model.lint.rules.catalogue import RULES
from firesteel.model.lint.rules.rule import Found, Rule
from firesteel.values.programs import CallSite, Level, Operation, Program

_MOST_DIFFERENCES = 3
"""More are counted only: a library such as Spark's own for machine learning may run hundreds of jobs."""
_COMMENT = re.compile(r"#\s*firesteel:\s*ignore\[([^\]]*)\]")


def linted(program: Program, ignore: Collection[str] = (), help: Help | None = None) -> Linted:
    """All that the rules find in a program."""
    refuse_unknown(ignore)
    help = Help() if help is None else help
    facts = Facts(program, help)
    found: dict[tuple[str, object, str], Lint] = {}
    for rule in RULES.values():
        for one in rule.find(facts) if rule.name not in ignore else ():
            made = _lint(rule, one, facts)
            if made.rule not in _ignored_at(made.where):
                found.setdefault((made.rule, made.where or made.operation, made.message), made)
    findings = sorted(found.values(), key=_place)
    seen = tuple(_confirmed(one, help) for one in findings)
    return Linted(seen, facts.judged, (*_notes(seen, program), *facts.untested))


def _confirmed(one: Lint, help: Help) -> Lint:
    return replace(one, confirmed=help.runs(one)) if RULES[one.rule].confirmable else one


def refuse_unknown(names: Iterable[str], given: str = "ignore") -> None:
    """Refuse the name of a rule that does not exist."""
    if isinstance(names, str):
        raise InvalidArgument(f"{described(given, names)} is a text: write a list of rules, such as [{names!r}]")
    for name in names:
        if name not in RULES:
            near = get_close_matches(str(name), RULES, n=1)
            raise InvalidArgument(
                f"{described(given, name)} is not a rule{f' (is {near[0]} meant?)' if near else ''}: `firesteel lint "
                "--rules` lists those there are"
            )


def _lint(rule: Rule, found: Found, facts: Facts) -> Lint:
    operation = facts.program.operations[found.operation] if found.operation is not None else None
    action = facts.program.actions[found.action] if found.action is not None else None
    where = action.call_site if action is not None else _site(facts.program, operation)
    level = facts.flow(operation.id).level if operation is not None else None
    return Lint(
        rule.name,
        found.severity or rule.severity,
        where,
        found.text,
        rule.example,
        rule.instead,
        operation.level if operation is not None else None,
        Level.INDETERMINATE if action is not None and level is Level.UNORDERED else level,
        "",
        found.operation,
        found.action,
    )


def _site(program: Program, operation: Operation | None) -> CallSite | None:
    """Where an operation is called; of one that a library makes, where the user first reads what comes of it."""
    waiting = deque([operation] if operation is not None else [])
    while waiting:
        one = waiting.popleft()
        acting = next((each.call_site for each in program.actions if one.id in each.operations), None)
        if one.call_site is not None or acting is not None:
            return one.call_site or acting
        waiting.extend(program.operations[id_] for id_ in program.children[one.id])
    return None


def _place(one: Lint) -> tuple[object, ...]:
    where = one.where
    return (where is None, where.file if where else "", where.line if where else 0, one.rule, one.message)


def _ignored_at(where: CallSite | None) -> frozenset[str]:
    """The rules that a comment in the user's source switches off, on the line itself or on one of its own above it."""
    if where is None:
        return frozenset()
    line = linecache.getline(where.file, where.line)
    above = linecache.getline(where.file, where.line - 1) if where.line > 1 else ""
    texts = [line, *([above] if above.lstrip().startswith("#") else [])]
    return frozenset(name.strip() for text in texts for each in _COMMENT.findall(text) for name in each.split(","))


def _notes(findings: Iterable[Lint], program: Program) -> Iterable[str]:
    for one in findings:
        unknown = _ignored_at(one.where) - RULES.keys()
        if unknown:
            yield f"{one.where}: the comment ignores {', '.join(sorted(unknown))}, which is not a rule"
    if not program.operations:
        yield "nothing was captured: the program made no RDD, DataFrame or DStream"
    for difference in program.differences[:_MOST_DIFFERENCES]:
        yield f"the capture is not complete: {difference}"
    more = len(program.differences) - _MOST_DIFFERENCES
    if more > 0:
        yield f"the capture is not complete: {more} more like these (dag.differences has all)"
    unread = [
        function
        for operation in program.operations
        for function in operation.functions
        if function.source is None and not _is_plain(function.object)
    ]
    for name in dict.fromkeys(function.name for function in unread):
        yield f"the function {name} has no source: only its bytecode was read"


def _is_plain(function: object) -> bool:
    """Is it a built-in function or a class, which has no source to read?"""
    return not hasattr(function, "__code__")
