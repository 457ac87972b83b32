"""What a test calls about luck in programs: `assert_clean`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from firesteel.dags import capture
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.lint import Severity, Unclean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def assert_clean(
    program: Callable[[SparkSession], Any],
    *,
    ignore: Collection[str] = (),
    warnings: bool = True,
    confirm: bool = True,
    seconds: float = 20.0,
    spark: SparkSession | None = None,
) -> None:
    """Run a program, and fail if its result hangs on luck somewhere.

    >>> import firesteel as fs
    >>> def counts(spark):
    ...     return spark.range(10).groupBy("id").count().orderBy("id").first()
    >>> fs.assert_clean(counts)

    `program` is called with the session, and its return value is left alone. `ignore` has names of rules, as `Dag.lint`
    takes them; `confirm` and `seconds` are as there. With `warnings=False` only errors fail. The failure is a
    `fs.Unclean`, whose `findings` are data.
    """
    from firesteel.linting import lint_program, refuse_seconds
    from firesteel.model.lint.linting import refuse_unknown
    from firesteel.report.lint import text
    from firesteel.spark.session.start import session

    if not callable(program):
        raise InvalidArgument(
            f"{described('program', program)} is not a function: write fs.assert_clean(job), where job takes a session"
        )
    refuse_unknown(ignore)
    refuse_seconds(seconds)
    spark = session() if spark is None else spark
    with capture(spark) as dag:
        program(spark)
    found = lint_program(dag.program, ignore=ignore, confirm=confirm, seconds=seconds)
    bad = tuple(one for one in found.findings if warnings or one.severity is Severity.ERROR)
    if bad:
        raise Unclean(text(bad, found.notes), bad)
