"""The jobs of one run, told from all others by a tag: so that nothing is cancelled that belongs to somebody else."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext


_OURS = "firesteel-"


@contextmanager
def tagged(context: SparkContext) -> Iterator[str]:
    """Jobs that this thread starts meanwhile, and queries, have the tag that is given.

    >>> import firesteel as fs
    >>> spark = fs.session().sparkContext
    >>> before = set(spark.getJobTags())
    >>> with tagged(spark) as tag:
    ...     set(spark.getJobTags()) - before == {tag}
    True
    >>> set(spark.getJobTags()) == before
    True
    """
    tag = f"{_OURS}{uuid.uuid4()}"
    try:
        context.addJobTag(tag)  # in here: an interrupt may come after Spark has added it
        yield tag
    finally:
        with suppress(Exception):  # Spark itself may be gone, which is not to hide why
            context.removeJobTag(tag)


def left_behind(context: SparkContext) -> set[str]:
    """Tags of firesteel's that this thread still has, where it is not inside `tagged`: there should be none.

    >>> import firesteel as fs
    >>> left_behind(fs.session().sparkContext)
    set()
    """
    return {tag for tag in context.getJobTags() if tag.startswith(_OURS)}


def cancel(context: SparkContext, tag: str) -> None:
    """Cancel the jobs with a tag: else they would go on, and keep the cores busy."""
    with suppress(Exception):  # Spark itself may be gone
        context.cancelJobsWithTag(tag)
