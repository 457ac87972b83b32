"""Windows of event time, as Spark writes them into a plan: arithmetic on microseconds, with the sizes as literals."""

from __future__ import annotations

import math

from firesteel.spark.plans.tree import Expression


def grid_of(expression: Expression) -> int | None:
    """The grid, in microseconds since 1970, that the windows of a column start and end on.

    None for everything that is not written exactly as Spark writes the windows of `window()`: sessions lie on no grid,
    and another version of Spark may write windows in another way.
    """
    struct = expression.children[0] if expression.kind == "Alias" else expression
    match struct:
        case Expression(
            "CreateNamedStruct",
            (
                Expression("Literal") as first,
                Expression("KnownNullable", (Expression("PreciseTimestampConversion", (start,)),)),
                Expression("Literal") as second,
                Expression("KnownNullable", (Expression("PreciseTimestampConversion", (end,)),)),
            ),
        ) if (_value(first), _value(second)) == ("start", "end"):
            return _grid(start, end)
        case _:
            return None


def _grid(start: Expression, end: Expression) -> int | None:
    """The start is the last one before the time, some steps earlier; the end is a duration later."""
    match start, end:
        case (
            Expression("Subtract", (Expression("Subtract", (time, beyond)), earlier)),
            Expression("Add", (also_start, duration)),
        ) if also_start == start and time.kind == "PreciseTimestampConversion":
            sizes = [_value(size) for size in (*_sizes(time, beyond), earlier, duration)]
            numbers = [size for size in sizes if isinstance(size, int)]
            if len(numbers) == len(sizes) == 4 and numbers[0] > 0:
                return math.gcd(*numbers)
        case _:
            pass
    return None


def _sizes(time: Expression, beyond: Expression) -> tuple[Expression, ...]:
    """The step and the offset in how far a time lies beyond the last start: a remainder, made positive."""
    match beyond:
        case Expression(
            "CaseWhen",
            (
                Expression("LessThan", (compared, _)),
                Expression("Add", (negative, also_step)),
                Expression("Remainder", (Expression("Subtract", (also_time, offset)), step)) as remainder,
            ),
        ) if also_time == time and also_step == step and compared == negative == remainder:
            return step, offset
        case _:
            return ()


def _value(literal: Expression) -> object:
    return literal.arguments.get("value") if literal.kind == "Literal" else None
