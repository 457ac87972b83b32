"""What a user holds of a program: `Dag`, which `fs.capture` and `fs.dag_of` give: to look at, to draw, to model."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.surroundings import Called, tell
from firesteel.tracebacks import with_users_frames
from firesteel.values.programs import Action, Difference, Edge, Execution, Job, Operation, Program, Stage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pyspark.sql import SparkSession

    from firesteel.evidence.lint import Judged, Lint
    from firesteel.history.logs.reading import EventLog


class Dag:
    """The program that Spark ran: operations and actions of the user's, jobs and stages of Spark's.

    `fs.capture` and `fs.dag_of` make it. `print(dag)` shows it, `dag.draw` draws it.

    >>> import firesteel as fs
    >>> dag = fs.dag_of("tests/history/logs/lost_block.zst")
    >>> [(edge.source, edge.target) for edge in dag.edges if edge.wide]
    [(2, 3)]
    >>> [(job.stages, job.skipped) for job in dag.jobs][1]
    ((2, 3), (2,))
    >>> dag.differences
    ()
    """

    def __init__(self) -> None:
        self._program = Program()
        self._ended = False

    @classmethod
    def of(cls, program: Program) -> Dag:
        """The graph of a program that was seen."""
        dag = cls()
        dag._end(program)
        return dag

    def _end(self, program: Program) -> None:
        """The block has ended: from now on nothing changes."""
        if self._ended:
            raise InvalidArgument("this program was captured already: write `with fs.capture(spark) as dag:` again")
        self._program, self._ended = program, True

    def msvl(self, *, style: str = "edges", path: str | PathLike[str] | None = None) -> str:
        """The program as a model in MSVL, which `firesteel.model.msvl.load` reads and runs without Spark.

        The records of the sources are part of it. Those of files and DataFrames are read again, so Spark still has to
        run, and the files have to be there. With a `path` the model is written there, and data of more than 100,000
        characters is put into a file beside it; without a path the model asks for it (`inputs=`). `style="paper"`
        prints the form of the paper on S2M: a rendering that does not run.

        >>> import firesteel as fs
        >>> from firesteel.model import msvl
        >>> spark = fs.session()
        >>> with fs.capture(spark) as dag:
        ...     _ = spark.sparkContext.parallelize([3, 4, 5], 2).filter(lambda x: x % 2 == 1).collect()
        >>> msvl.load(dag.msvl()).run()
        [[3, 5]]
        >>> dag.msvl(style="paper")
        '(Parallelize1()||Filter1(2,1)||Filter1(2,2));Collect()'
        """
        from firesteel.model.translate.model import model_of

        if not self._ended:
            raise InvalidArgument("this program is not captured yet: call msvl() after the block of fs.capture")
        return model_of(self._program, style, path)

    def __repr__(self) -> str:
        from firesteel.report.dags.text import headline

        return f"<Dag: {headline(self._program)}>"

    def __str__(self) -> str:
        from firesteel.report.dags.text import text

        return text(self._program)

    def draw(self, path: str | PathLike[str]) -> Path:
        """Draw the program into a file; its ending says how: `.svg`, `.html`, `.dot` or `.mmd`.

        A box holds the operations that ran in the same stages. A thick edge is a shuffle. What `lint` finds is red or
        yellow. In the picture and on the page the functions show when an operation is pointed at. The page has all
        jobs, stages and plans, too.
        """
        from firesteel.report.dags import graphs, page, svg
        from firesteel.report.dags.marks import marks_of

        writers = {".svg": svg.svg, ".html": page.page, ".dot": graphs.dot, ".mmd": graphs.mermaid}
        try:
            target = Path(path)
        except TypeError:
            raise InvalidArgument(f"{described('path', path)} is not a path: write dag.draw('dag.svg')") from None
        if target.suffix not in writers:
            raise InvalidArgument(
                f"{described('path', path)} does not say how to draw: let it end in {', '.join(writers)}"
            )
        marked = marks_of(self.lint(confirm=False))
        target.write_text(writers[target.suffix](self._program, marked), encoding="utf-8")
        return target

    def lint(self, *, ignore: Collection[str] = (), confirm: bool = True, seconds: float = 20.0) -> list[Lint]:
        """Where the result of the program hangs on luck; an empty list where no rule finds anything.

        >>> import firesteel as fs
        >>> spark = fs.session()
        >>> with fs.capture(spark) as dag:
        ...     words = spark.sparkContext.parallelize(["a", "b", "a"], 2)
        ...     first = words.map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b).take(1)
        >>> [(one.rule, one.severity.value) for one in dag.lint()]
        [('take-without-order', 'error')]

        - `ignore`: names of rules. A comment `# firesteel: ignore[rule]` on the line does the same for one place.
        - `confirm`: test the program's functions, and run what was found again on its own data, in other orders.
        - `seconds`: so long that may take in all.
        """
        from firesteel.linting import lint_program

        return list(lint_program(self._program, ignore=ignore, confirm=confirm, seconds=seconds).findings)

    @property
    def levels(self) -> tuple[Judged, ...]:
        """The level of every operation, computed anew with what Spark does not know, beside what Spark believes."""
        from firesteel.linting import lint_program

        return lint_program(self._program, confirm=False).levels

    def _repr_svg_(self) -> str:
        """What a notebook shows. What `lint` finds is coloured."""
        from firesteel.report.dags.marks import marks_of
        from firesteel.report.dags.svg import svg

        return svg(self._program, marks_of(self.lint(confirm=False)))

    @property
    def program(self) -> Program:
        """All that was seen, as one value; empty until the block ends."""
        return self._program

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The calls that made a data set, in their order."""
        return self._program.operations

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Which operation reads from which."""
        return self._program.edges

    @property
    def actions(self) -> tuple[Action, ...]:
        """The calls that wanted a result, in their order."""
        return self._program.actions

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What Spark ran for them."""
        return self._program.jobs

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the jobs."""
        return self._program.stages

    @property
    def executions(self) -> tuple[Execution, ...]:
        """What Spark SQL ran, with its plans."""
        return self._program.executions

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where what Spark ran is not what was captured."""
        return self._program.differences


@with_users_frames
def dag_of(log: EventLog | str | PathLike[str]) -> Dag:
    """The program that an event log tells of: what Spark ran, without the user's words, functions and arguments.

    >>> import firesteel as fs
    >>> dag = fs.dag_of("tests/history/logs/lost_block.zst")
    >>> dag
    <Dag: 8 operations, 3 actions, 3 jobs, 5 stages>
    >>> [operation.name for operation in dag.operations][:4]
    ['parallelize', 'PythonRDD', 'PairwiseRDD', 'partitionBy']

    `log` is an `fs.event_log`, or the path of one. An operation is an operator of SQL, or one of Spark's RDDs; an
    action is an execution of SQL, or a job by itself.
    """
    from firesteel.history.logs.reading import EventLog, UnreadableLog
    from firesteel.history.logs.reading import event_log as found
    from firesteel.spark.capture.offline import program_in

    events = log if isinstance(log, EventLog) else found(log)
    if len(events.applications) != 1:
        raise InvalidArgument(
            f"{described('log', log)} has the logs of {len(events.applications)} applications: hand over one of "
            "fs.event_log(path).applications"
        )
    unreadable: list[str] = []

    def readable() -> Iterator[Mapping[str, Any]]:
        try:
            yield from events
        except UnreadableLog as error:
            unreadable.append(str(error))

    program = program_in(readable())
    return Dag.of(replace(program, differences=(*map(Difference, unreadable), *program.differences)))


@contextmanager
def capture(spark: SparkSession | None = None) -> Iterator[Dag]:
    """See the program that Spark runs while a block does: what is called, and what Spark makes of it.

    >>> import firesteel as fs
    >>> spark = fs.session()
    >>> with fs.capture(spark) as dag:
    ...     words = spark.sparkContext.parallelize(["a", "b", "a"], 2)
    ...     _ = words.map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b).collect()
    >>> [operation.name for operation in dag.operations]
    ['parallelize', 'map', 'reduceByKey']
    >>> dag.operations[2].wide, [function.source for function in dag.operations[2].functions]
    (True, ['lambda a, b: a + b'])
    >>> [(action.name, len(action.jobs)) for action in dag.actions]
    [('collect', 1)]

    The program runs as it would without. `dag` is empty until the block ends, and does not change any more then. It is
    also there if the block raises an exception, with the part that ran. Without `spark` it is `fs.session()`: the
    session that is running, or a new one.
    """
    from firesteel.history.live import Events
    from firesteel.spark.capture.capturing import Capturing
    from firesteel.spark.session.start import session

    tell(Called("fs.capture"))
    spark = session() if spark is None else spark
    capturing, dag = Capturing(spark), Dag()
    with ExitStack() as stack:
        events = stack.enter_context(Events(spark))
        capturing.start()
        # Last in, first out: listening ends, all events are written, and then they are read.
        after = ExitStack()
        after.callback(lambda: dag._end(capturing.program(events)))
        after.push(stack.pop_all())
        after.callback(capturing.stop)
        with after:
            yield dag
