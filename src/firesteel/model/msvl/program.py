"""`load` and `Program`: a program of MSVL that can be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from firesteel.errors import described
from firesteel.model.msvl import data
from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.compiling import Code, compiled
from firesteel.model.msvl.errors import BoundReached, MsvlError, NoModel, Undefined
from firesteel.model.msvl.exploring import Explorer
from firesteel.model.msvl.grammar import parse
from firesteel.model.msvl.machine import Machine
from firesteel.model.msvl.printing import text_of
from firesteel.model.msvl.residuals import Begin
from firesteel.model.msvl.scopes import Key
from firesteel.model.msvl.types import shaped
from firesteel.model.msvl.values import UNSET, lifted, plain, same

BOUND = 1_000_000
"""How many states a run may have, if nothing else is said."""


class State:
    """One state of a run: `state["x"]` is the value of x.

    >>> from firesteel.model import msvl
    >>> first, second = msvl.load("frame(x, y) and (x <== 1 and y <== 5 and skip ; empty)").states()
    >>> second.number, second["x"], second.values, second.changes
    (1, 1, {'x': 1, 'y': 5}, {})
    """

    __slots__ = ("_changed", "_values", "number")

    def __init__(self, number: int, values: Mapping[Key, Any], changed: tuple[Key, ...]) -> None:
        self.number = number
        self._values, self._changed = values, changed

    def __getitem__(self, name: str) -> Any:
        for key, value in self._values.items():
            if key.label == name:
                return plain(value)
        raise KeyError(name)

    @property
    def values(self) -> dict[str, Any]:
        """All variables that have a value. Those of a function are named `function#number.variable`."""
        return {key.label: plain(value) for key, value in self._values.items()}

    @property
    def changes(self) -> dict[str, Any]:
        """The variables whose value is another one than in the state before; None for one that has lost it."""
        return {key.label: plain(self._values.get(key, None)) for key in self._changed}

    def __repr__(self) -> str:
        return f"State({self.number}, {self.values!r})"


def seen(machine: Machine) -> State:
    """The present state of a machine."""
    return State(machine.number, dict(machine.values), changed(machine))


def changed(machine: Machine) -> tuple[Key, ...]:
    """The variables whose value is another one than before."""
    values = machine.values
    return tuple(
        key
        for key, old in machine.before.items()
        if not (old is not UNSET and key in values and same(old, values[key]))
        and not (old is UNSET and key not in values)
    )


class Program:
    """A program. `msvl.load` makes one; `str` gives its text.

    >>> from firesteel.model import msvl
    >>> program = msvl.load("frame(x) and (int x <== n and skip ; while x > 1 {x := x - 1})")
    >>> program.inputs, program.run({"n": 3})
    (('n',), {'x': 1})
    """

    def __init__(self, source: t.Source, name: str = "program", folder: str = "") -> None:
        self.source = source
        self.name = name
        self.folder = folder
        """Where the files of inputs are."""
        try:
            self.code: Code = compiled(source)
        except RecursionError:
            raise MsvlError("the program is nested too deep: put parts of it into functions") from None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The variables that need a value: those that are declared with `input`, or read and never assigned."""
        return self.code.inputs

    @property
    def externals(self) -> tuple[str, ...]:
        """The functions that have to be supplied: those that `ext` calls."""
        return self.code.externals

    def __str__(self) -> str:
        return text_of(self.source)

    def __repr__(self) -> str:
        return f"<MSVL {self.name}: inputs {list(self.inputs)}, externals {list(self.externals)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __reduce__(self) -> tuple[type[Program], tuple[t.Source, str, str]]:
        return type(self), (self.source, self.name, self.folder)

    def __and__(self, other: Program) -> Program:
        """Both programs together: `M and M1`. Their variables are the same where they have the same name.

        >>> from firesteel.model import msvl
        >>> str(msvl.load("x <== 1") & msvl.load("skip"))
        'x <== 1 and skip'
        """
        if not isinstance(other, Program):
            return NotImplemented
        one, two = self.source, other.source
        twice = {f.name for f in one.functions} & {f.name for f in two.functions}
        if twice:
            raise MsvlError(f"both programs have a function {min(twice)!r}: give it another name in one of them")
        both = t.Source(
            one.structs + tuple(struct for struct in two.structs if struct not in one.structs),
            one.inputs + two.inputs,
            one.outputs + two.outputs,
            one.variables + two.variables,
            one.functions + two.functions,
            t.And((one.body, two.body)),
            one.definitions + two.definitions,
            one.listed and not two.outputs,
        )
        return Program(both, f"{self.name} and {other.name}", self.folder or other.folder)

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        externals: Mapping[str, Callable[..., Any]] | None = None,
        *,
        bound: int = BOUND,
    ) -> Any:
        """Run the program; returns its results: the variables that `output` names, as they are in the last state.

        They are a dict; where the program says `output [a, b];`, as the model of a Spark program does, a list.

        Without `output`, the results are all variables of the program that have a value in the end. Where there are
        choices, the first ones that lead to an end are taken.

        >>> from firesteel.model import msvl
        >>> msvl.load("output y; frame(x, y) and (x <== 2 and y <== 0 and skip ; y := ext square(x))").run(
        ...     externals={"square": lambda x: x * x})
        {'y': 4}
        """
        explorer = self.explorer(inputs, externals, bound)
        for ends in explorer.states():
            if ends:
                return self._results(explorer.machine)
        raise self.why_none(explorer)

    def states(
        self,
        inputs: Mapping[str, Any] | None = None,
        externals: Mapping[str, Callable[..., Any]] | None = None,
        *,
        bound: int = BOUND,
    ) -> Iterator[State]:
        """The states of the run that `run` makes, one by one.

        >>> from firesteel.model import msvl
        >>> [state["x"] for state in msvl.load("frame(x) and (x <== 0 and skip ; x := 1 ; x := 2)").states()]
        [0, 0, 1, 2]
        """
        explorer = self.explorer(inputs, externals, bound)
        waiting: list[State] = []
        for ends in explorer.states():
            del waiting[_kept(waiting, explorer.machine.number) :]
            waiting.append(seen(explorer.machine))
            if ends or explorer.settled:
                yield from waiting
                waiting = []
            if ends:
                return
        raise self.why_none(explorer)

    def models(
        self,
        inputs: Mapping[str, Any] | None = None,
        externals: Mapping[str, Callable[..., Any]] | None = None,
        *,
        bound: int,
    ) -> Iterator[tuple[State, ...]]:
        """All runs of at most `bound` states: every choice of `or`, and every length where that is left open.

        >>> from firesteel.model import msvl
        >>> runs = msvl.load("frame(x) and (x <== 1 and skip ; x := 2 or x := 3)").models(bound=5)
        >>> [[state["x"] for state in run] for run in runs]
        [[1, 1, 2], [1, 1, 3]]
        """
        explorer = self.explorer(inputs, externals, bound)
        path: list[State] = []
        for ends in explorer.states():
            del path[explorer.machine.number :]
            path.append(seen(explorer.machine))
            if ends:
                yield tuple(path)

    # --- for those who look at states while they are made ---

    def explorer(
        self,
        inputs: Mapping[str, Any] | None,
        externals: Mapping[str, Callable[..., Any]] | None,
        bound: int,
        dead: tuple[type[Exception], ...] = (NoModel,),
    ) -> Explorer:
        """What makes the states; `dead` are the errors after which another choice is tried."""
        if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
            raise MsvlError(f"{described('bound', bound)} is not a number of states: write a whole number from 1")
        given = self._given(inputs)
        supplied = self._supplied(externals)
        keys = self.code.variables
        constants = {keys[name]: given[name] for name in self.code.constants}
        machine = Machine(dict(constants), constants, supplied)
        machine.coming = [
            (keys[name], (), value, 0) for name, value in given.items() if name not in self.code.constants
        ]
        for name, make in self.code.blanks.items():
            if name not in given:
                machine.blanks[keys[name]] = machine.values[keys[name]] = make(machine, {})
        machine.loose = set(machine.blanks)
        return Explorer(machine, Begin(self.code.body, {}), bound, dead)

    def _results(self, machine: Machine) -> dict[str, Any] | list[Any]:
        keys, values = self.code.variables, machine.values
        names = self.source.outputs or tuple(name for name in sorted(keys) if name not in self.code.constants)
        for name in self.source.outputs:
            if keys[name] not in values:
                raise Undefined(
                    f"state {machine.number}: the program hands out {name}, which has no value in the last state. "
                    "Frame it, or assign it there",
                    machine.number,
                )
        found = {name: plain(values[keys[name]]) for name in names if keys[name] in values}
        return list(found.values()) if self.source.listed else found

    def why_none(self, explorer: Explorer) -> Exception:
        """Why no run was found."""
        if explorer.cut or explorer.failure is None:
            return BoundReached(
                f"the run has not ended after {explorer.bound:,} states: write a larger bound=, if it ends",
                explorer.bound - 1,
            )
        return explorer.failure

    def _given(self, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        given = {} if inputs is None else inputs
        if not isinstance(given, Mapping):
            raise MsvlError(f"{described('inputs', inputs)} is not a dict: write run(inputs={{'n': 3}})")
        for name in given:
            if name not in self.inputs:
                there = ", ".join(self.inputs) or "none"
                raise MsvlError(f"{described('inputs', inputs)}: {name!r} is not an input. The program needs {there}")
        found = {name: self._input(name, value) for name, value in given.items()}
        for name in self.inputs:
            if name not in found:
                found[name] = self._default(name)
        return found

    def _default(self, name: str) -> Any:
        """The value that the program has for an input that is not given."""
        declared = next((each for each in self.source.inputs if each.name == name), None)
        if declared is not None and declared.file:
            return self._input(name, data.read(Path(self.folder, declared.file), name))
        if declared is None or declared.value is None:
            raise MsvlError(f"the program needs the input {name!r}: write run(inputs={{{name!r}: ...}})")
        try:
            return self._input(name, data.value_of(declared.value))
        except TypeError as error:
            raise MsvlError(
                f"the input {name} has a value in line {declared.line} that cannot be used: {error}"
            ) from None

    def _input(self, name: str, value: Any) -> Any:
        declared = next((each for each in self.source.inputs if each.name == name), None)
        try:
            made = lifted(value)
            if declared is None:
                return made
            sizes = tuple(size.value for size in declared.sizes if isinstance(size, e.Constant))
            return shaped(made, declared.type, sizes, self.code.scope)  # type: ignore[arg-type]
        except TypeError as error:
            raise MsvlError(f"the input {described(name, value)} does not fit: {error}") from None

    def _supplied(self, externals: Mapping[str, Callable[..., Any]] | None) -> Mapping[str, Callable[..., Any]]:
        supplied = {} if externals is None else externals
        for name in self.externals:
            if not callable(supplied.get(name)):
                raise MsvlError(
                    f"the program calls ext {name}, which is not supplied: write run(externals={{{name!r}: function}})"
                )
        return supplied


def _kept(waiting: list[State], number: int) -> int:
    """How many of the states that wait to be shown come before this one."""
    return sum(state.number < number for state in waiting)


def load(text_or_path: str | os.PathLike[str]) -> Program:
    """The program that a text says, or a file: one ends in `.m`, or is a path.

    >>> from firesteel.model import msvl
    >>> msvl.load("x <== 1 and empty").run()
    {'x': 1}
    """
    if isinstance(text_or_path, os.PathLike) or (
        isinstance(text_or_path, str) and text_or_path.endswith(".m") and "\n" not in text_or_path
    ):
        path = Path(text_or_path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MsvlError(f"{described('text_or_path', str(path))} cannot be read: {error}") from None
        return Program(parse(text), path.name, str(path.parent))
    if not isinstance(text_or_path, str):
        raise MsvlError(f'{described("text_or_path", text_or_path)} is not a text: write msvl.load("x := 1")')
    return Program(parse(text_or_path))
