"""What code declares about itself. Nothing here imports Spark or Hypothesis: production code imports it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from firesteel.errors import InvalidArgument, described

F = TypeVar("F", bound=Callable[..., Any])
NOT = "not "


@dataclass(frozen=True)
class Declaration:
    """What is claimed of a function."""

    function: Callable[..., Any]
    claims: tuple[str, ...]
    operator: Callable[..., Any] | None = None
    """The function of `firesteel.operators` that makes it an operator; None where that is plain."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """For `fs.holds`."""

    @property
    def module(self) -> str:
        """The module that the function belongs to."""
        return getattr(self.function, "__module__", None) or ""

    @property
    def name(self) -> str:
        """Its name there."""
        return getattr(self.function, "__qualname__", None) or type(self.function).__name__

    def as_operator(self) -> Any:
        """The operator that is meant."""
        if self.operator is not None:
            return self.operator(self.function)
        from firesteel.operators import kinds
        from firesteel.operators.guessing import operator_of
        from firesteel.operators.inputs import required
        from firesteel.operators.order import possible

        plain = {claim.removeprefix(NOT) for claim in self.claims}
        places = required(self.function)
        two = places is not None and len(places) == 2
        if two and plain <= set(possible(kinds.Kind.REDUCER)) and plain & {"associative", "commutative"}:
            return kinds.reducer(self.function)
        return operator_of(self.function)


_declarations: dict[tuple[str, str], Declaration] = {}


def declare(
    function: Callable[..., Any],
    claims: tuple[str, ...],
    operator: Callable[..., Any] | None,
    options: Mapping[str, Any],
) -> Declaration:
    """Note what is claimed of a function. A second declaration takes the place of the first."""
    if not callable(function):
        raise InvalidArgument(f"{described('function', function)} is not a function")
    refuse_claims(claims)
    made = Declaration(function, claims, operator, dict(options))
    _declarations[made.module, made.name] = made
    return made


def refuse_claims(claims: tuple[Any, ...]) -> None:
    """Claims are names of properties, with or without "not " before them."""
    for claim in claims:
        if not isinstance(claim, str):
            raise InvalidArgument(
                f'{described("claim", claim)} is not the name of a property: write "commutative" or "not stateless"'
            )


def declarations_of(module: str) -> list[Declaration]:
    """What the functions of a module, or of the modules of a package, are declared to be."""
    return [
        made for (owner, _), made in sorted(_declarations.items()) if owner == module or owner.startswith(f"{module}.")
    ]
