"""What is wrong with a program: its text, or a run of it. Every message says where, and what to write instead."""

from __future__ import annotations

from firesteel.errors import InvalidArgument


class MsvlError(InvalidArgument):
    """A program that cannot be used as it is given.

    >>> from firesteel.model import msvl
    >>> msvl.load("x := y").run()
    Traceback (most recent call last):
        ...
    firesteel.model.msvl.errors.MsvlError: the program needs the input 'y': write run(inputs={'y': ...})
    """


class MsvlSyntaxError(MsvlError):
    """The text of a program that cannot be read; `line` and `column` count from 1.

    >>> from firesteel.model import msvl
    >>> msvl.load("x := ; skip")
    Traceback (most recent call last):
        ...
    firesteel.model.msvl.errors.MsvlSyntaxError: expected an expression, found ';', in line 1, column 6:
        x := ; skip
             ^
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line, self.column = line, column

    def __reduce__(self) -> tuple[type[MsvlSyntaxError], tuple[str, int, int]]:
        return type(self), (str(self), self.line, self.column)


class RunError(RuntimeError):
    """A run that cannot go on. `state` is the number of the state, from 0."""

    def __init__(self, message: str, state: int) -> None:
        super().__init__(message)
        self.state = state

    def __reduce__(self) -> tuple[type[RunError], tuple[str, int]]:
        return type(self), (str(self), self.state)


class NoModel(RunError):
    """The program contradicts itself: no run of it exists, whatever is chosen.

    >>> from firesteel.model import msvl
    >>> msvl.load("x <== 1 and x <== 2 and empty").run()
    Traceback (most recent call last):
        ...
    firesteel.model.msvl.errors.NoModel: no model, state 0: x is assigned 1 in line 1 and 2 in line 1
    """


class Undefined(RunError):
    """A variable is read that has no value: it is neither assigned in this state nor framed.

    >>> from firesteel.model import msvl
    >>> msvl.load("x <== 1 and skip ; y := x").run()
    Traceback (most recent call last):
        ...
    firesteel.model.msvl.errors.Undefined: state 1: x is read in line 1 and has no value: it is neither assigned in \
this state nor framed. Write frame(x) and (...)
    """


class Unusable(RunError):
    """An operation that cannot be done: a text is added to a number, an index is out of range, a type does not fit."""


class ExternalError(RunError):
    """An external function raised; its exception is the cause."""


class BoundReached(RunError):
    """The run did not end within its bound.

    >>> from firesteel.model import msvl
    >>> msvl.load("while true {skip}").run(bound=100)
    Traceback (most recent call last):
        ...
    firesteel.model.msvl.errors.BoundReached: the run has not ended after 100 states: write a larger bound=, if it ends
    """
