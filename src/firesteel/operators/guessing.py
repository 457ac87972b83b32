"""Which kind of operator a bare function is, where that is plain."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.operators import kinds
from firesteel.operators.inputs import hints_of, required, signature
from firesteel.operators.kinds import Operator, inner_function, short_name
from firesteel.operators.onspark.operator import SparkOperator

_OF_UDF: dict[int, Callable[..., Operator]] = {
    100: kinds.function,
    101: kinds.function,  # a UDF that is sent by Arrow is the same function
    200: kinds.pandas_udf,
    202: kinds.grouped_agg,
    204: kinds.pandas_udf,  # of iterators
    205: kinds.map_in_pandas,
    207: kinds.map_in_arrow,
    250: kinds.arrow_udf,
}
"""By PySpark's number for a kind of UDF (`pyspark.util.PythonEvalType`)."""


class UnclearKind(InvalidArgument):
    """A bare function may be of several kinds."""


def operator_of(given: Any) -> Operator | SparkOperator:
    """The operator of a bare function; a function whose kind is not plain is refused.

    >>> operator_of(str.upper)
    function(upper)
    >>> operator_of(lambda a, b: a - b)
    Traceback (most recent call last):
        ...
    firesteel.operators.guessing.UnclearKind: f takes two arguments: a reducer or a UDF of two columns? Write \
operators.reducer(f) or operators.function(f)
    """
    if isinstance(given, Operator | SparkOperator):
        return given
    if isinstance(given, type) or not callable(given):
        raise InvalidArgument(
            f"{described('operator', given)} is not a function or an operator: write operators.reducer(f), "
            "operators.function(f) or the like"
        )
    kind = getattr(given, "evalType", None)
    if isinstance(kind, int) and hasattr(given, "func"):
        if kind not in _OF_UDF:
            raise InvalidArgument(
                f"{described('operator', given)} is a UDF of a kind that is not known here: write "
                "operators.pandas_udf(f, input=...) or the like with the function itself"
            )
        return _OF_UDF[kind](given)
    return _by_signature(given)


def _by_signature(given: Callable[..., Any]) -> Operator:
    name = short_name(given)
    hints = [hint for key, hint in hints_of(given).items() if key != "return"]
    said = [f"{getattr(hint, '__module__', '')}.{getattr(hint, '__qualname__', hint)}" for hint in hints]
    if any("DataFrame" in each for each in said):
        raise UnclearKind(
            f'{name} takes DataFrames: write operators.grouped_map({name}, key="user", input="user STRING, n INT") '
            f"or operators.map_in_pandas({name}, input=...)"
        )
    if said and all("Series" in each for each in said):
        gives = str(hints_of(given).get("return", ""))
        make = "pandas_udf" if "Series" in gives else "grouped_agg"
        raise UnclearKind(f'{name} takes columns: write operators.{make}({name}, input="price DOUBLE")')
    places = required(given)
    if places is None:
        if signature(given) is None:
            return kinds.function(given)  # a function of C: one value in is what it is tried with
        places = []
    if len(places) == 2:
        raise UnclearKind(
            f"{name} takes two arguments: a reducer or a UDF of two columns? Write operators.reducer({name}) or "
            f"operators.function({name})"
        )
    if inspect.isgeneratorfunction(inner_function(given)):
        return kinds.flat(given)
    if not places and not _takes_one(given):
        raise InvalidArgument(f"{name} takes no argument, so nothing can be fed to it")
    return kinds.function(given)


def _takes_one(given: Callable[..., Any]) -> bool:
    found = signature(given)
    return found is None or any(
        each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.VAR_POSITIONAL)
        for each in found.parameters.values()
    )
