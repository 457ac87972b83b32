"""Rules over any trace: mappings, sets, instants of `fs.run`, objects of whatever kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from difflib import get_close_matches
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.history.judging import AnyRule, asked_of, monitors_of
from firesteel.history.monitors import Letter, Stated
from firesteel.values.answers import as_bool


class PlainJudge:
    """Judges a trace in which a name is a key of a mapping, an element of a set or an attribute of an object."""

    def __init__(self, rules: Iterable[AnyRule]) -> None:
        self.states = 0
        self.state: Any = None
        chosen = tuple(rules)
        _refuse_keys(chosen)
        self.monitors = [monitors_of(rule, self.place, lambda: self.state) for rule in chosen]
        self._met: dict[str, bool] = {
            name: False for rule in chosen if not isinstance(rule, Stated) for name in rule.names - rule.own.keys()
        }
        """The names that a state has to say something about, and whether one did."""
        self._others: set[str] = set()

    def place(self) -> str:
        return f"state {self.states}"

    def take(self, state: Any) -> None:
        """Judge one more state."""
        self.state = state
        for monitors in self.monitors:
            letter: Letter = frozenset()
            if not isinstance(monitors.rule, Stated):
                own = monitors.rule.own
                where = f"at {self.place()}"
                letter = frozenset(
                    name
                    for name in monitors.rule.names
                    if (asked_of(name, own[name], state, where) if name in own else self._holds(name, state))  # type: ignore[arg-type]
                )
            monitors.step(None, None, letter, self.states)
        self.states += 1

    @property
    def settled(self) -> bool:
        """Is nothing left to find out, whatever comes?"""
        return all(monitors.verdict.definite for monitors in self.monitors)

    def _holds(self, name: str, state: Any) -> bool:
        if isinstance(state, Mapping):
            self._others |= {key for key in state if isinstance(key, str)}
            if name not in state:
                return False
            value: Any = state[name]
        elif isinstance(state, (Set, list, tuple)):
            self._others |= {key for key in state if isinstance(key, str)}
            self._met[name] = True  # a set need not have every name
            return name in state
        else:
            if not hasattr(state, name):
                return False
            value = getattr(state, name)
        self._met[name] = True
        known = as_bool(value)
        if known is None:
            raise InvalidArgument(
                f"{described(name, value)} at {self.place()} is not a bool: define the proposition, as in "
                f"propositions={{{name!r}: lambda state: ...}}"
            )
        return known

    def refuse_names_never_met(self) -> None:
        """Raise where a name was in no state at all: it is most often a misspelt one."""
        for name in sorted(name for name, met in self._met.items() if not met and self.states):
            near = get_close_matches(name, self._others, n=1)
            raise InvalidArgument(
                f"no state of the trace has {name!r}{f' (is {near[0]!r} meant?)' if near else ''}: a name is a key of "
                f"a mapping or an attribute, or define it with propositions={{{name!r}: lambda state: ...}}"
            )


def _refuse_keys(rules: Iterable[AnyRule]) -> None:
    for rule in rules:
        if isinstance(rule, Stated):
            continue
        if rule.each is not None:
            raise InvalidArgument(
                f"the rule {rule.name} is about each {rule.each} of an application, and this trace does not hold "
                "Spark's events: hand over fs.event_log(path), or a formula about the trace's own names"
            )
        for name, asked in rule.own.items():
            if not callable(asked):
                raise InvalidArgument(
                    f"{described(f'propositions[{name!r}]', rule.propositions[name])} is an expression over Spark's "
                    "events, and this trace does not hold such: write a function of a state"
                )
