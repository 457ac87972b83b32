"""Where an operator's inputs come from: type hints, schemas, defaults, a strategy, a sample; else from trying."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.operators import domains as d
from firesteel.operators.kinds import Family, Kind, Operator
from firesteel.operators.sampling import from_sample, from_schema, from_strategy, pandas_type

CANDIDATES: tuple[d.Domain, ...] = (
    d.Ints(),
    d.Texts(),
    d.Floats(),
    d.Lists(d.Ints()),
    d.Rows((d.Ints(), d.Ints())),
    d.Rows((d.Texts(), d.Ints())),
    d.Maps(d.Texts(), d.Ints()),
    d.Lists(d.Texts()),
    d.Dates(),
    d.Moments(),
    d.Few((False, True), "bool"),
    d.Binaries(),
    d.Lists(d.Ints(), set),
    d.Rows((d.Ints(), d.Ints(), d.Ints())),
)
"""What is tried where nothing says what goes in, the simplest first."""
_WHOLE = 500


@dataclass(frozen=True)
class Inputs:
    """What goes into an operator: for each port the domain of a record, and how it became known."""

    ports: tuple[d.Domain, ...]
    columns: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Of a column function: the columns of every port, with their pandas types."""
    source: str = ""
    """Where the types come from, for the table."""
    names: tuple[str, ...] = ()
    """The names of the arguments, or of the columns."""
    is_sample: bool = False
    """Were the values given? Then no others are made."""
    nullable: bool = False
    """May every column hold nulls, by the declared schema?"""

    @property
    def record(self) -> d.Domain:
        """The domain of a record of the first port."""
        return self.ports[0]

    @property
    def said(self) -> str:
        """The types, in words."""
        return " and ".join(port.name for port in self.ports)


class NoInputs(Exception):
    """Nothing says what goes in, and trying found nothing either."""


Trial = Callable[[Sequence[Any]], Sequence[bool]]


def known_inputs(operator: Operator, given: Any, sample: Any) -> Inputs | None:
    """The inputs, if anything says what they are; None if they have to be found by trying."""
    if given is not None:
        return _shaped(operator, from_strategy(given), "inputs=")
    if sample is not None:
        return _shaped(operator, from_sample(sample), "sample=")
    if any(schema is not None for schema in operator.inputs):
        return _from_schemas(operator)
    if operator.kind.family in (Family.COLUMNS, Family.GROUPS) or operator.kind is Kind.GROUPED_AGG:
        raise InvalidArgument(
            f"{operator!r} takes columns, and nothing says which: write "
            f'operators.{operator.kind.value}(..., input="user STRING, n BIGINT"), or hand over rows with sample=[...]'
        )
    return _from_hints(operator)


def tried_inputs(operator: Operator, works: Callable[[Operator, Inputs, Sequence[Any]], Sequence[bool]]) -> Inputs:
    """The first of the common types with which the function does not raise."""
    rng = Random(0)
    arity = _arity(operator)
    held = []
    for candidate in CANDIDATES:
        record = d.Rows((candidate,) * arity) if operator.kind.family is Family.CALLS else candidate
        inputs = Inputs((record,), (), "trying", _parameters(operator))
        held.append((candidate, inputs, [record.random(rng) for _ in range(6)]))
    working = []
    for candidate, inputs, records in held:
        answers = works(operator, inputs, records)
        if sum(answers) * 3 >= len(answers) * 2:
            working.append((candidate, inputs))
            if len(working) == 3:
                break
    if not working:
        tried = ", ".join(candidate.name for candidate in CANDIDATES)
        raise NoInputs(
            f"nothing says what {operator.name} takes, and it raised with every type that was tried ({tried}): "
            "write type hints, or inputs=st.integers(), or sample=[...]"
        )
    (first, inputs), *others = working
    also = f"; {' and '.join(candidate.name for candidate, _ in others)} would work too" if others else ""
    return dataclasses.replace(inputs, source=f"trying: {first.name} works{also}")


def _shaped(operator: Operator, found: d.Domain, source: str) -> Inputs:
    """Inputs whose records were given: as arguments, as values of a fold, or as rows."""
    family = operator.kind.family
    if family in (Family.COLUMNS, Family.GROUPS) or operator.kind is Kind.GROUPED_AGG:
        return _rows_given(operator, found, source)
    assert isinstance(found, d.Samples)
    if family is Family.CALLS:
        arity = _arity(operator)
        if arity == 1:
            values = tuple((value,) for value in found.values)
        elif all(isinstance(value, tuple) and len(value) == arity for value in found.values):
            values = tuple(map(tuple, found.values))
        else:
            raise InvalidArgument(
                f"{described(source.rstrip('='), found.values[0])} is not a tuple of {arity} arguments, which "
                f"{operator.name} takes: write tuples, such as inputs=st.tuples(...)"
            )
        found = d.Samples(values, found.name)
    return Inputs((found,), (), source, _parameters(operator), is_sample=True)


def _rows_given(operator: Operator, found: d.Domain, source: str) -> Inputs:
    assert isinstance(found, d.Samples)
    first = found.values[0]
    if isinstance(first, Mapping):
        names = tuple(first)
        rows = tuple(tuple(value[name] for name in names) for value in found.values)
    else:
        names = tuple(getattr(first, "__fields__", ()) or getattr(first, "__dict__", ()) or ())
        values = [value if isinstance(value, tuple | list) else (value,) for value in found.values]
        rows = tuple(map(tuple, values)) if not names else tuple(tuple(value) for value in found.values)
        names = names or tuple(f"c{place}" for place in range(len(rows[0])))
    columns = tuple((str(name), pandas_type([row[at] for row in rows])) for at, name in enumerate(names))
    domain = d.Rows(tuple(d.Samples(tuple(row[at] for row in rows)) for at in range(len(names))), None, names)
    ports = len(operator.inputs)
    return Inputs((domain,) * ports, (columns,) * ports, source, names, is_sample=True)


def _from_schemas(operator: Operator) -> Inputs:
    columnar = operator.kind.family in (Family.COLUMNS, Family.GROUPS) or operator.kind is Kind.GROUPED_AGG
    ports, columns = [], []
    names: tuple[str, ...] = ()
    nullable = True
    for schema in operator.inputs:
        if schema is None:
            raise InvalidArgument(f"{operator!r} has a port without a schema: declare left= and right=")
        row, shape, can_be_null = from_schema(schema)
        nullable = nullable and can_be_null
        names = names or row.names
        if not columnar and len(row.fields) > 1 and _arity(operator) == 1:
            row = d.Rows((d.Rows(row.fields, _row_maker(row.names), row.names),), None, _parameters(operator))
        ports.append(row)
        columns.append(shape)
    return Inputs(tuple(ports), tuple(columns) if columnar else (), "the declared schema", names, nullable=nullable)


def _row_maker(names: tuple[str, ...]) -> Callable[[list[Any]], Any]:
    from pyspark.sql import Row

    make = Row(*names)
    return lambda items: make(*items)


# --- signatures ---


def signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """The function's signature, where Python knows it."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def required(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters that a caller has to give by place; None where Python does not know."""
    found = signature(function)
    if found is None:
        return None
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in found.parameters.values() if each.kind in places and each.default is each.empty]


def _arity(operator: Operator) -> int:
    if operator.kind.family is Family.FOLDS or operator.partitions:
        return 1
    given = required(operator.function)
    if not given:
        found = signature(operator.function)
        return max(1, min(1, len(found.parameters))) if found is not None else 1
    return len(given)


def _parameters(operator: Operator) -> tuple[str, ...]:
    return tuple(each.name for each in required(operator.function) or ())


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints of a function's parameters, as far as they can be read."""
    target = function
    if not inspect.isroutine(function):
        target = getattr(function, "func", type(function).__call__)
    try:
        return typing.get_type_hints(target)
    except Exception:
        raw = getattr(target, "__annotations__", {})
        return {name: hint for name, hint in raw.items() if not isinstance(hint, str)}


def _from_hints(operator: Operator) -> Inputs | None:
    """Type hints, then default values. Of a fold, the hint of the value that is added."""
    function = operator.function
    found = required(function)
    if found is None:
        return None
    hints = hints_of(function)
    if operator.kind.family is Family.FOLDS:
        place = 0 if operator.kind in (Kind.REDUCER, Kind.COMBINER) else 1
        places = [found[place]] if len(found) > place else []
    else:
        places = found or list((signature(function) or inspect.Signature()).parameters.values())[:1]
    fields: list[d.Domain] = []
    for each in places:
        hint = hints.get(each.name, Any)
        domain = of_hint(hint) if hint is not Any else None
        if domain is None and each.default is not each.empty and each.default is not None:
            domain = of_hint(type(each.default))
        if domain is None:
            return None
        fields.append(domain)
    if not fields:
        return None
    if operator.kind.family is Family.FOLDS:
        return Inputs((fields[0],), (), "type hints", ())
    names = tuple(each.name for each in places)
    if operator.partitions:
        inner = fields[0]
        return Inputs((d.Rows((inner,)),), (), "type hints", names)
    return Inputs((d.Rows(tuple(fields), None, names),), (), "type hints", names)


_PLAIN: dict[Any, d.Domain] = {
    int: d.Ints(),
    float: d.Floats(),
    str: d.Texts(),
    bool: d.Few((False, True), "bool"),
    bytes: d.Binaries(),
    date: d.Dates(),
    datetime: d.Moments(),
    Decimal: d.Decimals(),
    type(None): d.Few((None,), "None"),
}


def of_hint(hint: Any) -> d.Domain | None:
    """The domain of a type hint; None where it says too little.

    >>> of_hint(int | None).name, of_hint(list[str]).name
    ('int or None', 'list')
    """
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _of_union(arguments)
    if origin is typing.Literal:
        return d.Few(arguments)
    if origin is typing.Annotated:
        return of_hint(arguments[0])
    inner = [of_hint(each) for each in arguments if each is not Ellipsis]
    if any(each is None for each in inner):
        return None
    known = [each for each in inner if each is not None]
    if origin is tuple and known:
        return d.Lists(known[0], tuple) if Ellipsis in arguments else d.Rows(tuple(known), tuple)
    if origin is dict or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return d.Maps(known[0], known[1]) if len(known) == 2 else None
    if origin in (set, frozenset) and known:
        return d.Lists(known[0], origin)
    if isinstance(origin, type) and issubclass(origin, list | Sequence | Iterator | typing.Iterable) and known:
        return d.Lists(known[0])
    return _of_class(hint)


def _of_union(arguments: tuple[Any, ...]) -> d.Domain | None:
    others = [of_hint(each) for each in arguments if each is not type(None)]
    if len(others) != 1 or others[0] is None:
        return None
    return d.Maybe(others[0]) if len(others) < len(arguments) else others[0]


def _of_class(hint: Any) -> d.Domain | None:
    if not isinstance(hint, type):
        return None
    if issubclass(hint, enum.Enum):
        return d.Few(tuple(hint), hint.__name__)
    if hint in (list, tuple, set, dict):
        return {list: d.Lists(d.Ints()), set: d.Lists(d.Ints(), set), dict: d.Maps(d.Texts(), d.Ints())}.get(hint)
    names: tuple[str, ...] = ()
    if dataclasses.is_dataclass(hint):
        names = tuple(each.name for each in dataclasses.fields(hint) if each.init)
    elif issubclass(hint, tuple) and hasattr(hint, "_fields"):
        names = tuple(hint._fields)
    fields = [of_hint(typing.get_type_hints(hint).get(name)) for name in names]
    if not fields or any(each is None for each in fields):
        return None
    return d.Rows(tuple(each for each in fields if each), lambda items: hint(*items), names)
