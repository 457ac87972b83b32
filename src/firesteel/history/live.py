"""Live applications: the events of a block of code, and a streaming query that is followed while it runs."""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.logs import Verified
from firesteel.evidence.report import Report
from firesteel.history.check import judged_so_far, report_of
from firesteel.history.judging import AnyRule, End, Judge
from firesteel.history.logs.files import Local
from firesteel.history.logs.layout import Layout, layouts
from firesteel.history.logs.reading import Block, EventLog, Problem, parsed
from firesteel.logic.verdicts import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL, _PATIENCE = 0.1, 10


class Events(EventLog):
    """The events of a live application, while a block of code runs. `fs.events` makes it.

    What is read before the block ends is what Spark has written so far. The listener is detached when it ends.
    """

    def __init__(self, spark: SparkSession) -> None:
        from firesteel.spark.events import Listener

        super().__init__(Local(), (), "fs.events(spark)")
        self._listener = Listener(spark)
        self._folder: str | None = None
        self._ended = False

    def __repr__(self) -> str:
        return self.path

    def __enter__(self) -> Self:
        if self._folder is not None:
            raise InvalidArgument("these events were used before: write `with fs.events(spark) as log:` again")
        self._folder = str(self._listener.attach())
        # The log goes with this object, or with this process.
        weakref.finalize(self, shutil.rmtree, self._folder, True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._listener.detach()
        self._ended = True

    @property
    def applications(self) -> tuple[EventLog, ...]:
        """This log: it is about one application."""
        return (self,)

    @property
    def running(self) -> bool:
        """Is the application still being listened to?"""
        return not self._ended

    @property
    def looked_away(self) -> bool:
        """Did the block end?"""
        return self._ended

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return sum(self._files.size(part) for one in self._layouts() for part in one.parts)

    def blocks(self) -> Iterator[Block | Problem]:
        """The lines that were written so far."""
        yield from EventLog(self._files, self._layouts(), self.path).blocks()

    def _layouts(self) -> tuple[Layout, ...]:
        if self._folder is None:
            raise InvalidArgument("nothing was listened to yet: write `with fs.events(spark) as log:`")
        return tuple(layouts(self._files, self._folder, self._folder))

    def written_after(self, offset: int) -> Iterator[bytes]:
        """What was written from a position on, in bytes."""
        for one in self._layouts():
            for part in one.parts:
                with open(part, "rb") as file:
                    file.seek(offset)
                    yield file.read()


class Watch:
    """A streaming query that is followed while it runs. `fs.watch` makes it.

    `verdict` is false as soon as the rule is broken. `report` has the evidence. `close` ends it; so does the end of a
    `with` block, and the end of the query.
    """

    def __init__(self, query: Any, rules: tuple[AnyRule, ...], *, stop: bool) -> None:
        self._events = Events(_session_of(query))
        self._query, self._stop = query, stop
        self._id = str(query.id).encode()
        self._judge = Judge(rules)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._offset = 0
        """How many bytes of the log were judged."""
        self._ended = False
        self._error: BaseException | None = None
        self._events.__enter__()
        self._thread = threading.Thread(target=self._follow, name="firesteel-watch", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Watch of query {self._query.id}: {self.verdict.name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def verdict(self) -> Verdict:
        """What is known so far: false as soon as the rule is broken, and true only once the watch has ended."""
        return self.report.verdict

    @property
    def report(self) -> Report:
        """What is known so far, with the evidence."""
        with self._lock:
            if self._error is not None:
                raise self._error
            end = End.SOFT if self._ended else End.NONE
            found = judged_so_far(f"the query {self._query.id}", self._judge, end, self._again)
        return report_of(Verified((found,)), "fs.watch")

    def close(self) -> None:
        """Stop to follow the query; the query itself goes on."""
        self._closed.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _follow(self) -> None:
        try:
            while not self._closed.is_set() and self._query.isActive:
                self._take()
                self._closed.wait(_POLL)
        except Exception as error:
            self._error = error
        finally:
            if not self._closed.is_set():
                self._wait_for_the_end()
            self._events.__exit__(None, None, None)  # Spark writes what it still holds
            self._take_last()

    def _wait_for_the_end(self) -> None:
        """Spark says that a query is not active a moment before it tells its listeners."""
        with suppress(Exception):  # that of the query
            self._query.awaitTermination(_PATIENCE)

    def _take_last(self) -> None:
        try:
            self._take()
        except Exception as error:
            self._error = self._error or error
        self._ended = True

    def _take(self) -> None:
        """Judge what was written since the last time."""
        with self._lock:
            new = b"".join(self._events.written_after(self._offset))
            whole = new[: new.rfind(b"\n") + 1]
            self._offset += len(whole)
            lines = whole.split(b"\n")[:-1]
            fresh = [line for line in lines if self._id in line]
            self._judge.read(Block("", self._judge.about.events + 1, fresh, 0))
            broken = any(monitors.broken for monitors in self._judge.monitors)
        if broken and self._stop and self._query.isActive:
            self._stop = False
            self._query.stop()

    def _again(self) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        """The same events once more, for the evidence."""
        number = 0
        for block in self._events.blocks():
            for line in block.lines if isinstance(block, Block) else ():
                if self._id in line:
                    number += 1
                    event = parsed(line)
                    if isinstance(event, dict):
                        yield "", number, event


def _session_of(query: Any) -> Any:
    if type(query).__module__.startswith("pyspark.sql.connect"):
        from firesteel.spark.events import refuse_connect

        refuse_connect("query", query)
    if not hasattr(query, "isActive") or not hasattr(query, "_jsq"):
        raise InvalidArgument(
            f"{described('query', query)} is not a streaming query: hand over what writeStream.start() returned"
        )
    from firesteel.spark.folds import active_session

    session = active_session()
    if session is None:
        raise InvalidArgument("no Spark session is active, so no streaming query is: start the query first")
    return session
