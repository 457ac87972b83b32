"""`Rule`: a formula about what Spark did, for the whole application or for each stage, task, query, ... by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.history.expressions import Expression, parse
from firesteel.history.table import ENTITIES, EVERYWHERE, PROPOSITIONS
from firesteel.logic.pptl.automata import Automaton, automaton
from firesteel.logic.pptl.formulas import Formula
from firesteel.logic.pptl.operators import formula_of

Predicate: TypeAlias = Callable[[Any], Any] | str
"""A function of an event, or the text of an expression."""
Events: TypeAlias = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Rule:
    """A temporal rule. `firesteel.rules` has ready ones; write your own with a formula of PPTL.

    >>> import firesteel as fs
    >>> from firesteel import rules
    >>> retried = rules.Rule("RETRIED", "[] (task_failed -> <> (task_started or stage_failed))", each="task",
    ...                      says="A task that fails is tried again, or its stage fails.")
    >>> fs.verify(fs.event_log("tests/history/logs/lost_block.zst"), retried).verdict
    <Verdict.TRUE: 1>
    """

    name: str
    formula: str
    """A formula of PPTL. Its names are propositions about Spark, or those in `propositions`."""
    each: str | None = None
    """What it is about, such as "stage": then every stage is judged by itself. None is the whole application."""
    says: str = ""
    """The rule in a sentence."""
    propositions: Mapping[str, Predicate] = field(default_factory=dict)
    """More propositions: functions of an event, or expressions such as "stage.skew > 5"."""
    breaks: Events = field(default=(), repr=False, compare=False)
    """A small log that breaks the rule."""
    keeps: Events = field(default=(), repr=False, compare=False)
    """A small log that keeps it."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument(f'{described("name", self.name)} is not a name: write rules.Rule("RETRIED", ...)')
        if self.each is not None and self.each not in ENTITIES:
            raise InvalidArgument(
                f"{described('each', self.each)} is not something to have a rule for: write one of "
                f"{', '.join(ENTITIES)}, or leave it out"
            )
        if not isinstance(self.propositions, Mapping):
            raise InvalidArgument(
                f"{described('propositions', self.propositions)} is not a mapping of names to functions or expressions"
            )
        for name, value in self.propositions.items():
            if not callable(value) and not isinstance(value, str):
                raise InvalidArgument(
                    f"{described(f'propositions[{name!r}]', value)} is neither a function of an event nor the text of "
                    "an expression"
                )

    def __hash__(self) -> int:
        return hash((self.name, self.formula, self.each))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.name, self.formula, self.each, self.says, self.propositions, self.breaks, self.keeps,
        )  # fmt: skip

    @cached_property
    def parsed(self) -> Formula:
        """The formula."""
        return formula_of(self.formula)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its propositions."""
        return self.parsed.names

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton that all of its monitors share."""
        return automaton(self.parsed)

    @cached_property
    def own(self) -> Mapping[str, Callable[[Any], Any] | Expression]:
        """Its own propositions, with the expressions parsed."""
        return {
            name: parse(value) if isinstance(value, str) else value
            for name, value in self.propositions.items()
            if name in self.names
        }

    def refuse_unknown_names(self) -> None:
        """Raise where the formula has a name that is neither a proposition about Spark nor given."""
        known = {*PROPOSITIONS, *self.propositions}
        for name in sorted(PROPOSITIONS.keys() & self.propositions.keys()):
            raise InvalidArgument(
                f"{described(f'propositions[{name!r}]', self.propositions[name])} has the name of a proposition about "
                "Spark: choose another one"
            )
        for name in sorted(self.names - known):
            near = get_close_matches(name, known, n=1)
            raise InvalidArgument(
                f"the formula {self.formula} has the name {name!r}, which is not a proposition about Spark"
                f"{f' (is {near[0]!r} meant?)' if near else ''}: `firesteel rules --propositions` lists them, and "
                f"propositions={{{name!r}: ...}} defines one"
            )
        if self.each is None:
            return
        seen = {name for name, made in PROPOSITIONS.items() if self.each in made.entities}
        for name in sorted(self.names - seen - self.own.keys()):
            entities = PROPOSITIONS[name].entities
            if name not in EVERYWHERE:
                raise InvalidArgument(
                    f"the formula {self.formula} is about each {self.each}, and {name} is never seen there: it is "
                    f"about {' or '.join(f'each {one}' for one in entities) or 'the application'}"
                )
