"""How a function of the user is asked whether something holds, and what counts as an answer.

True and False count, also numpy's, and a `Check`. A function that fails an `assert` says no, and the reason is the
assertion's message. Everything else is refused: a function that forgot its `return` must not pass for one that says no.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from firesteel.errors import PredicateError, Unanswered, described
from firesteel.hypothesis_internals import forgotten_example, in_example
from firesteel.names import name_of
from firesteel.values.checks import Check
from firesteel.values.records import brief, is_numpy_bool


def as_bool(answer: Any) -> bool | None:
    """The bool in an answer: True or False, numpy's own, or a Check; None if it is anything else.

    >>> as_bool(Check(False)), as_bool(1)
    (False, None)
    """
    return bool(answer) if isinstance(answer, (bool, Check)) or is_numpy_bool(answer) else None


def as_answer(answer: Any) -> bool | Check | None:
    """The same, with a Check as it is: it remembers why."""
    return answer if isinstance(answer, Check) else as_bool(answer)


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns; where it fails an `assert`, a Check that is false, with the assertion's message.

    >>> def positive(n):
    ...     assert n > 0, f"{n} is not positive"
    ...     return True
    >>> ask(positive, 1), ask(positive, -1)
    (True, Check(holds=False, reason='-1 is not positive', records=()))
    """
    if "hypothesis" not in sys.modules or in_example():
        return _called(function, arguments)
    with forgotten_example():
        return _called(function, arguments)


def asking() -> AbstractContextManager[None]:
    """While functions of the user are called: `hypothesis.event`, `note` and `target` work in them everywhere.

    They count in the example of Hypothesis that is being run; elsewhere they do nothing.
    """
    # Where nobody imported Hypothesis, nobody calls it.
    return nullcontext() if "hypothesis" not in sys.modules or in_example() else forgotten_example()


def asked_about(predicate: Callable[[Any], Any], record: Any) -> bool | Check:
    """What a predicate says about one record. It is to be called inside `asking()`."""
    answer = _called(predicate, (record,))
    if answer is True or answer is False:
        return answer
    known = as_answer(answer)
    if known is None:
        raise PredicateError(f"the predicate {name_of(predicate)}, at {brief(record)}, {returned(answer)}")
    return known


def reason_of(answer: bool | Check) -> str:
    """Why it does not hold, where it says so."""
    return answer.reason if isinstance(answer, Check) else ""


def returned(answer: Any, *, instead: str = "a bool or a Check") -> str:
    """The words for a function that returned something that is not an answer.

    >>> print(returned(None))
    returned None: is a `return` missing? It has to return a bool or a Check
    """
    if answer is None:
        return f"returned None: is a `return` missing? It has to return {instead}"
    return (
        f"returned {described('answer', answer)}: it has to return {instead}; write bool(...) around it if that is "
        "what you mean"
    )


def raised(who: str, where: str, error: Exception) -> NoReturn:
    """Raise the error for a function of the user that raised; its cause is the user's own exception."""
    if isinstance(error, PredicateError):  # a predicate asked a batch, and the batch another predicate
        raise PredicateError(f"{who}, {where}: {error}") from error.__cause__
    raise PredicateError(f"{who} raised {error!r} {where}") from error


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except Unanswered:
        raise
    except AssertionError as error:
        return Check(False, _message(error))


def _message(error: AssertionError) -> str:
    """What an assertion says; where it says nothing, the line that it stands on. Pytest writes messages of its own."""
    text = str(error).strip()
    if text:
        return text
    places = traceback.extract_tb(error.__traceback__)
    return (places[-1].line if places else None) or type(error).__name__
