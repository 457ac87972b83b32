"""The text of MSVL functions that go through records, one state for each."""

from __future__ import annotations

from collections.abc import Sequence


def function(name: str, parameters: Sequence[str], own: Sequence[tuple[str, str, str]], *steps: str) -> str:
    """A function with variables of its own, (type, name, first value), and what it does one after the other."""
    frame = ", ".join(each for _, each, _ in own)
    first = " and ".join(f"{kind} {each} <== {value}" for kind, each, value in own)
    body = " ;\n    ".join([f"{first} and skip", *steps])
    return f"function {name}({', '.join(parameters)}) {{\n  frame({frame}) and (\n    {body})\n}}"


COUNTER = ("int", "i", "0")


def through(records: str, update: str, go_on: str = "") -> str:
    """Through the records from i on: for each, one state with this update."""
    return f"while i < size({records}){go_on} {{\n      {update} and i := i + 1}}"


def choosing(test: str, update: str) -> str:
    """An update where a test holds; it is the whole body of a loop."""
    return f"if {test} then {{{update} and i := i + 1}} else {{i := i + 1}}"


def through_some(records: str, test: str, update: str) -> str:
    """Through the records: those that pass the test are used, and each takes a state."""
    return f"while i < size({records}) {{\n      {choosing(test, update)}}}"


def each(name: str, update: str) -> str:
    """A function that handles one record after the other: `records` in, `out` out."""
    return function(name, ["list records", "list out[]"], [COUNTER], through("records", update))


def emitting(name: str, made: str, parameters: Sequence[str] = ("list records", "list out[]")) -> str:
    """A function that makes a list at once, and puts it out one by one."""
    return function(name, parameters, [COUNTER, ("list", "made", made)], through("made", "out := append(out, made[i])"))
