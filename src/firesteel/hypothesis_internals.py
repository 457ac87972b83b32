"""All that firesteel uses of Hypothesis beyond its documented interface. A new version of Hypothesis is tried here.

The oldest version that has all of it is written into pyproject.toml. `tests/test_hypothesis_internals.py` tries each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import signature
from threading import local
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Choices: TypeAlias = tuple[Any, ...]
"""What Hypothesis chose to draw one value: booleans, numbers, texts and bytes, in order. They say all about it."""


def choices_now() -> Choices:
    """The choices of the example that is being run."""
    from hypothesis.control import current_build_context

    return tuple(current_build_context().data.choices)


def targets_now() -> Mapping[str, float]:
    """What `hypothesis.target` was told in the example that is being run, by label."""
    from hypothesis.control import current_build_context

    return dict(current_build_context().data.target_observations)


def events_now() -> tuple[str, ...]:
    """What `hypothesis.event` was told in the example that is being run, as Hypothesis's statistics write it."""
    from hypothesis.control import current_build_context

    told = current_build_context().data.events
    return tuple(event if payload == "" else f"{event}: {payload}" for event, payload in told.items())


def in_example() -> bool:
    """Is an example of Hypothesis being run, in this thread?"""
    return _in_test_context()()


@contextmanager
def forgotten_example() -> Iterator[None]:
    """As if an example were being run: `hypothesis.event`, `note` and `target` may be called, and are forgotten."""
    context = getattr(_forgotten, "context", None)
    if context is None:  # one for each thread: to make one takes longer than most predicates
        context = _forgotten.context = _new_context()
    context.data.events.clear()
    context.data.target_observations.clear()
    with context:
        yield


_forgotten = local()


def _new_context() -> Any:
    from hypothesis.control import BuildContext
    from hypothesis.internal.conjecture.data import ConjectureData

    older = "wrapped_test" not in signature(BuildContext).parameters
    arguments: dict[str, Any] = {} if older else {"wrapped_test": forgotten_example}
    return BuildContext(ConjectureData.for_choices(()), **arguments)


@cache
def _in_test_context() -> Callable[[], bool]:
    from hypothesis import currently_in_test_context

    return currently_in_test_context


def as_bytes(choices: Choices) -> bytes:
    """Choices as they stand in an example database."""
    from hypothesis.database import choices_to_bytes

    return choices_to_bytes(choices)


def order_of_offers(text: bytes) -> tuple[int, bytes]:
    """The order in which Hypothesis takes the entries of an example database: the shortest first."""
    return len(text), text


def is_first_choice(key: bytes) -> bool:
    """Is this the database key under which Hypothesis looks for what failed before, and takes to be shrunk already?"""
    return not key.endswith((b".secondary", b".pareto"))


def is_second_choice(key: bytes) -> bool:
    """Is this the key of what failed before and was not yet made simpler?"""
    return key.endswith(b".secondary")


def identify(test: Callable[..., Any], digest: bytes) -> None:
    """Give a test function a digest of its own in the example database, as Hypothesis's pytest plugin does."""
    test._hypothesis_internal_add_digest = digest  # type: ignore[attr-defined]


def leave_out_constants_of_the_project() -> None:
    """Draw the same values whatever modules are loaded: for firesteel's own tests.

    Hypothesis also tries constants that stand in the project's files. So a changed constant anywhere, or another order
    of test files, would change what a test draws.
    """
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    nothing = Constants()
    providers._get_local_constants = lambda: nothing


def forced_seed() -> Any:
    """The seed of pytest's --hypothesis-seed, which then decides alone; None where it was not given."""
    import hypothesis.core

    return getattr(hypothesis.core, "global_force_seed", None)


def strategies_inside(strategy: SearchStrategy[Any]) -> Iterator[SearchStrategy[Any]]:
    """The strategies that draw the same values as one made of them by `|` or `filter`, as far as can be known."""
    from hypothesis.strategies import SearchStrategy

    for name in ("original_strategies", "filtered_strategy", "wrapped_strategy"):
        found = getattr(strategy, name, None)
        for inner in found if isinstance(found, (list, tuple)) else (found,):
            if isinstance(inner, SearchStrategy):
                yield inner


def validate(strategy: SearchStrategy[Any]) -> None:
    """Have a strategy raise what is wrong with its arguments, which Hypothesis does only when it first draws."""
    strategy.validate()
