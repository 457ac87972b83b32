"""Domains as strategies of Hypothesis."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from firesteel.operators import domains as d

_MOST = 4
"""How long lists are, at most: enough to show what depends on a length."""


def strategy_of(domain: d.Domain) -> st.SearchStrategy[Any]:
    """The values of a domain.

    >>> from hypothesis import find
    >>> find(strategy_of(d.Lists(d.Ints())), lambda xs: sum(xs) > 3)
    [4]
    """
    match domain:
        case d.Ints(low=low, high=high):
            return st.integers(low, high)
        case d.Floats(single=single):
            return st.floats(allow_nan=False, allow_infinity=False, width=32 if single else 64)
        case d.Texts():
            return st.text()
        case d.Binaries():
            return st.binary()
        case d.Dates():
            return st.dates()
        case d.Moments():
            return st.datetimes()
        case d.Decimals(places=places, digits=digits):
            most = min(10**9, 10**digits - 1)
            return st.integers(-most, most).map(lambda n: Decimal(n).scaleb(-places))
        case d.Maybe(inner=inner):
            return st.none() | strategy_of(inner)
        case d.Lists(inner=inner, make=make):
            return st.lists(strategy_of(inner), max_size=_MOST).map(make)
        case d.Maps(keys=keys, items=items):
            return st.dictionaries(strategy_of(keys), strategy_of(items), max_size=_MOST)
        case d.Rows(fields=fields):
            return st.tuples(*map(strategy_of, fields)).map(domain.of_items)
        case d.Few(values=values) | d.Samples(values=values):
            return st.sampled_from(values)
        case _:
            raise NotImplementedError(domain.name)
