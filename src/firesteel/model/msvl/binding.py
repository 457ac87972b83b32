"""Compiled expressions that bind names: `let`, comprehensions, conditionals, and what `define` defines.

A bound name has a slot of its own in the activation, so that it never meets a variable of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.model.msvl.functions import Misfit, items_of, kind
from firesteel.model.msvl.scopes import Activation, Name
from firesteel.model.msvl.values import List

if TYPE_CHECKING:
    from firesteel.model.msvl.machine import Machine

Evaluate: TypeAlias = Callable[["Machine", Activation], Any]


def slot(name: str) -> str:
    """Where an activation has a bound name."""
    return f"${name}"


@dataclass
class Definition:
    """A compiled definition. Its body is compiled where it is first used, and refuses to be used in itself."""

    name: str
    parameters: tuple[str, ...]
    line: int
    body: Evaluate | None = None
    names: tuple[Name, ...] = ()
    """The variables of the program that it reads."""
    entered: bool = field(default=False)

    def applied(self, arguments: Sequence[Evaluate]) -> Evaluate:
        """A call of it."""
        body = self.body
        assert body is not None
        slots = [slot(name) for name in self.parameters]
        if not slots:
            return body
        if len(slots) == 1:
            (first,), (only,) = slots, arguments
            return lambda m, a: body(m, {first: only(m, a)})
        return lambda m, a: body(m, {each: given(m, a) for each, given in zip(slots, arguments, strict=True)})


def conditional(test: Evaluate, then: Evaluate, otherwise: Evaluate, line: int) -> Evaluate:
    def value(m: Machine, a: Activation) -> Any:
        decided = test(m, a)
        if decided is True:
            return then(m, a)
        if decided is False:
            return otherwise(m, a)
        raise m.unusable(f"a condition is {decided!r}, which is neither true nor false", line)

    return value


def let(name: str, value: Evaluate, body: Evaluate) -> Evaluate:
    place = slot(name)
    return lambda m, a: body(m, {**a, place: value(m, a)})


def comprehension(
    body: Evaluate, clauses: Sequence[tuple[tuple[str, ...], Evaluate, Sequence[Evaluate], int]]
) -> Evaluate:
    """A list of values, for every record of the lists, the first of them outermost."""

    def records(m: Machine, a: Activation, depth: int) -> Iterable[Any]:
        if depth == len(clauses):
            yield body(m, a)
            return
        names, source, tests, line = clauses[depth]
        slots = [slot(name) for name in names]
        try:
            items = list(items_of("for", source(m, a)))
        except Misfit as misfit:
            raise m.unusable(str(misfit), line) from None
        for item in items:
            _put(m, a, slots, item, line)
            if all(_true(m, test(m, a), line) for test in tests):
                yield from records(m, a, depth + 1)

    return lambda m, a: List(records(m, dict(a), 0))


def _put(m: Machine, a: Activation, slots: list[str], item: Any, line: int) -> None:
    if len(slots) == 1:
        a[slots[0]] = item
        return
    parts = list(items_of("for", item)) if isinstance(item, tuple | List) else []
    if len(parts) != len(slots):
        raise m.unusable(f"for takes {len(slots)} parts of each record, and one is {item!r} ({kind(item)})", line)
    a.update(zip(slots, parts, strict=True))


def _true(m: Machine, value: Any, line: int) -> bool:
    if value is True or value is False:
        return bool(value)
    raise m.unusable(f"a condition is {value!r}, which is neither true nor false", line)
