"""Listening to an application: Spark's own writer of event logs, attached to a running one, with a folder of its own.

So the events are those of an event log, written by the same code, and no Python is called back for each of them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.spark.jvm import java_class
from firesteel.spark.session.folders import new_directory

_WRITER = "org.apache.spark.scheduler.EventLoggingListener"
_PATIENCE = 60_000
_PLAIN = {
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.overwrite": "true",
    "spark.eventLog.logBlockUpdates.enabled": "false",
    "spark.eventLog.buffer.kb": "64",
}


class Listener:
    """A writer of events that listens to an application, from `attach` to `detach`."""

    def __init__(self, spark: Any) -> None:
        refuse_connect("spark", spark)
        self._context = spark.sparkContext
        if self._context._jsc is None:
            raise InvalidArgument(f"{described('spark', spark)} is stopped: hand over a session that runs")
        self._writer: Any = None

    def attach(self) -> Path:
        """Listen from now on; the folder of the log."""
        gateway, scala = self._context._gateway, self._context._jsc.sc()
        folder = new_directory()
        conf = scala.getConf().clone()
        for key, value in _PLAIN.items():
            conf.set(key, value)
        none = java_class(gateway, "scala.Option").empty()
        place = java_class(gateway, "java.net.URI")(folder.as_uri())
        name = scala.applicationId()
        self._writer = java_class(gateway, _WRITER)(name, none, place, conf, scala.hadoopConfiguration())
        self._writer.start()
        self._wait_until_written()  # what happened before is nobody's business
        scala.addSparkListener(self._writer)
        return folder

    def detach(self) -> None:
        """Wait until all that happened is written, and listen no more."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        self._wait_until_written()
        with suppress(Exception):  # the application may have ended, and everything with it
            self._context._jsc.sc().removeSparkListener(writer)
        with suppress(Exception):
            writer.stop()

    def _wait_until_written(self) -> None:
        with suppress(Exception):  # also where events come faster than they can be written
            self._context._jsc.sc().listenerBus().waitUntilEmpty(_PATIENCE)


def refuse_connect(argument: str, given: Any) -> None:
    """Refuse what has no JVM behind it that could be listened to."""
    if type(given).__module__.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            f"{described(argument, given)} belongs to Spark Connect, where a client cannot listen to Spark's events: "
            "set spark.eventLog.enabled and spark.eventLog.dir on the server, and verify fs.event_log(path) of its log"
        )
    if not hasattr(given, "sparkContext"):
        raise InvalidArgument(f"{described(argument, given)} is not a Spark session: write fs.events(fs.session())")
