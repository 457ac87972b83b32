"""Which versions of Spark firesteel works with: those that its own tests pass on."""

from __future__ import annotations

import re

from firesteel.errors import InvalidArgument

OLDEST = (4, 2)
"""4.2 and 4.3 pass the tests; 4.0 and 4.1 fail most of them. Also in pyproject.toml."""
INSTALL = f"pip install 'pyspark>={'.'.join(map(str, OLDEST))}'"


def installed() -> str | None:
    """The version of the PySpark that can be imported; None if none can.

    >>> problem(installed()) is None
    True
    """
    try:
        from pyspark import __version__
    except ImportError:
        return None
    return str(__version__)


def problem(version: str | None) -> str | None:
    """What keeps firesteel from working with this version of Spark, and what to do about it; None if nothing does.

    >>> problem("4.3.0")
    >>> problem("4.1.4")
    "firesteel needs Spark 4.2 or later, and this is Spark 4.1.4: `pip install 'pyspark>=4.2'`"
    """
    wanted = ".".join(map(str, OLDEST))
    if version is None:
        return f"firesteel needs Spark {wanted} or later, and PySpark is not installed: `{INSTALL}`"
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < OLDEST:
        return f"firesteel needs Spark {wanted} or later, and this is Spark {version}: `{INSTALL}`"
    return None


def require(version: str | None) -> None:
    """Refuse a version of Spark that firesteel does not work with: it would fail later, and say something else."""
    why = problem(version)
    if why is not None:
        raise InvalidArgument(why)
