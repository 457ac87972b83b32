"""The one local Spark session that tests share: quick to start, quiet, and with nothing left behind.

Here: the settings, and starting with them. Not here: resetting the session between tests (`reset`), the class-data
archive that halves the time of the start (`archive`), temporary folders (`folders`), finding Java (`java`). PySpark is
imported when `session` is called.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel import surroundings
from firesteel.errors import InvalidArgument, described
from firesteel.spark.session import archive, folders, java, reset, versions
from firesteel.spark.session.folders import private_directory
from firesteel.spark.session.stderr import PassedOn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_lock = threading.RLock()
DAEMON = Path(__file__).parent.parent / "perturb" / "daemon" / "firesteel_daemon.py"
"""What may stand in for PySpark's daemon, for some time (`perturb/levers.py`): Spark's Python workers can import it."""


def session(config: Mapping[str, str] | None = None) -> SparkSession:
    """The local Spark session for tests: the one that is running, or a new one with settings made for small tests.

    >>> import firesteel as fs
    >>> fs.session({"spark.sql.session.timeZone": "UTC"}).conf.get("spark.sql.session.timeZone")
    'UTC'

    A session that is already running, whoever made it, is returned as it is. `config` wins over every setting that
    firesteel would choose. On a running session the SQL settings of `config` are set. A setting that can only be chosen
    at the start must have that value already: otherwise `InvalidArgument` names it.
    """
    wanted = _checked(config)
    with _lock:
        running = _running()
        if running is None:
            return _started(wanted)
        versions.require(running.version)
        _apply(running, wanted)
        return running


def _checked(config: Mapping[str, str] | None) -> dict[str, str]:
    if config is None:
        return {}
    given: object = config
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"{described('config', config)} is not a dict of settings: "
            "write session({'spark.sql.shuffle.partitions': '4'})"
        )
    for key, value in given.items():
        if not isinstance(key, str) or not isinstance(value, str):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            raise InvalidArgument(
                f"{described(f'config[{key!r}]', value)} is not a Spark setting: names and values are strings; "
                f"write {str(key)!r}: {text!r}"
            )
    return dict(config)


# --- a session that is running -------------------------------------------------------------------


def _running() -> SparkSession | None:
    """The session of this process, if there is one: found without importing PySpark where nobody has."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    # A context whose JVM was stopped from the Java side is left behind with `_jsc` None.
    if context is None or getattr(context, "_jsc", None) is None:
        return None
    # Not getActiveSession: that one belongs to a thread, and inside foreachBatch it is a clone.
    return SparkSession.builder.getOrCreate()


def _apply(running: SparkSession, wanted: Mapping[str, str]) -> None:
    changes = {}
    for key, value in wanted.items():
        if not key.startswith("spark.") or running.conf.isModifiable(key):
            changes[key] = value
        elif not _has(running, key, value):
            raise InvalidArgument(
                f"{described(f'config[{key!r}]', value)} can only be chosen when Spark starts, and a session is "
                f"already running with {_shown(running, key)}. Ask for it in the first session() of the process "
                "(with pytest: in your own session-scoped `spark` fixture), or stop() the running session before"
            )
    # All or nothing: a refused setting leaves the others as they were.
    for key, value in changes.items():
        running.conf.set(key, value)


def _has(running: SparkSession, key: str, value: str) -> bool:
    current = _current(running, key)
    if key.endswith("JavaOptions"):
        # Spark adds its own to what was asked for.
        return value in (current or "")
    if key == "spark.sql.warehouse.dir":
        # Spark makes a URI of a path.
        return current is not None and _as_path(current) == _as_path(value)
    return current == value


def _as_path(text: str) -> str:
    return re.sub(r"^file:(//)?", "", text).rstrip("/")


def _current(running: SparkSession, key: str) -> str | None:
    return running.sparkContext.getConf().get(key) or running.conf.get(key, None)


def _shown(running: SparkSession, key: str) -> str:
    current = _current(running, key)
    return "Spark's default for it" if current is None else f"{current!r}"


# --- a new session -------------------------------------------------------------------------------


def _started(wanted: Mapping[str, str]) -> SparkSession:
    versions.require(versions.installed())
    java.require()
    _refuse_connect()
    folders.clear_abandoned()
    # Otherwise Python workers may start another interpreter, one without the user's packages.
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ[name] = sys.executable
    from pyspark.sql import SparkSession

    settings = _defaults() | dict(wanted)
    _join_java_options(settings, wanted)
    _launch(settings)
    made = SparkSession.builder.config(map={**settings}).getOrCreate()
    versions.require(made.version)  # SPARK_HOME may lead to another one than PySpark's own
    _remove_with_the_jvm(made, private_directory())
    reset.remember(made)
    archive.build_at_exit()
    return made


def _refuse_connect() -> None:
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        if name in os.environ:
            raise InvalidArgument(
                f"the environment variable {name}={os.environ[name]!r} asks for Spark Connect, which gives no handle "
                "on the JVM; firesteel needs a classic session: unset it for this test run"
            )


def _defaults() -> dict[str, str]:
    """The settings of a new session; facts measured with PySpark 4.3 on 2 cores, 20 rows a batch."""
    private = private_directory()
    return {
        "spark.master": f"local[{_threads()}]",
        "spark.app.name": "firesteel",
        "spark.api.mode": "classic",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timeType.enabled": "true",  # otherwise 4.3 refuses TIME columns
        # Every partition of a shuffle is a task, and a task costs more than the few rows of a test in it. Two, so
        # that what depends on partitions can still go wrong.
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.pollingDelay": "1",
        # Over TCP every stage with Python workers waits some 40 ms for nothing. Known from 4.1 on, harmless before.
        "spark.python.unix.domain.socket.enabled": "true",
        # The default one forks a process for file permissions at every write: 172 -> 106 ms a batch.
        "spark.sql.streaming.checkpointFileManagerClass": _checkpoint_manager(),
        "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
        **_socket_settings(private),
        # Its own for every process, so that pytest-xdist workers do not meet.
        "spark.sql.warehouse.dir": str(private / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={private}/metastore_db;create=true",
        # Not extraJavaOptions: Spark puts these before the user's extraJavaOptions, wherever those come from (config,
        # spark-defaults.conf, PYSPARK_SUBMIT_ARGS), so that nothing is lost and the user's win.
        "spark.driver.defaultJavaOptions": " ".join(map(_quoted, _java_options(private))),
    }


def _threads() -> int:
    """At least 2, so that tasks do run at once; 2 in a pytest-xdist worker, as its siblings want the other cores."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return 2
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return min(max(cores, 2), 4)


def _checkpoint_manager() -> str:
    import pyspark

    major, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    package = "org.apache.spark.sql.execution.streaming"
    if (major, minor) >= (4, 1):
        package += ".checkpointing"
    return f"{package}.FileSystemBasedCheckpointFileManager"


def _java_options(private: Path) -> list[str]:
    return [
        # Tests are over before the optimising compiler has paid for itself.
        "-XX:TieredStopAtLevel=1",
        # Without that compiler the JVM reserves 48 MB for compiled code. Spark compiles code for every query, so some
        # minutes of tests fill it, and from then on everything is interpreted.
        "-XX:ReservedCodeCacheSize=512m",
        # Its frames are larger, too. A task with a long lineage is read recursively, and an overflow ends the JVM.
        "-Xss4m",
        # Hadoop runs chmod for every file of a checkpoint; this way of starting a process needs one program less.
        "-Djdk.lang.Process.launchMechanism=VFORK",
        f"-Dlog4j2.configurationFile={_log_settings(private).as_uri()}",
        f"-Dderby.system.home={private}",
        # Otherwise the JVM's files are in /tmp, whatever TMPDIR says, and stay there if it is killed.
        f"-Djava.io.tmpdir={private}",
        *archive.java_options(),
    ]


def _join_java_options(settings: dict[str, str], wanted: Mapping[str, str]) -> None:
    key = "spark.driver.defaultJavaOptions"
    if key in wanted:
        settings[key] = f"{_defaults()[key]} {wanted[key]}"


def _socket_settings(private: Path) -> dict[str, str]:
    """Sockets are with the JVM's temporary files, or in /tmp if their paths would be longer than the system allows."""
    length = len(os.fsencode(private / f".{uuid.UUID(int=0)}.sock"))
    return {} if length <= _LONGEST_SOCKET_PATH else {"spark.python.unix.domain.socket.dir": "/tmp"}


def _remove_with_the_jvm(made: SparkSession, private: Path) -> None:
    """Has the JVM remove the directory when it ends: it ends after this process, also if this process is killed."""
    jvm: Any = made.sparkContext._jvm
    jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(jvm.java.io.File(str(private)))


def _quoted(option: str) -> str:
    """As the launcher splits options: on spaces that no quotes protect."""
    return f'"{option}"' if " " in option else option


_LONGEST_SOCKET_PATH = 107 if sys.platform == "linux" else 103

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""

# Their errors come back to Python as exceptions. A search for a small counterexample fails hundreds of times.
_SILENT = (
    "org.apache.spark.broadcast.TorrentBroadcast",
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.execution.datasources.v2",
    "org.apache.spark.sql.execution.streaming.MicroBatchExecution",
    "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution",
    "org.apache.spark.streaming.scheduler.JobScheduler",
    "org.apache.spark.util.Utils",
)


def _log_settings(private: Path) -> Path:
    """A file, not setLogLevel: that comes too late for the warnings that Spark gives while it starts."""
    file = private / "log4j2.properties"
    silent = "".join(
        f"logger.silent{index}.name = {name}\nlogger.silent{index}.level = off\n" for index, name in enumerate(_SILENT)
    )
    file.write_text(_LOG4J + silent, encoding="utf-8")
    return file


# --- launching the JVM ---------------------------------------------------------------------------


def _launch(settings: Mapping[str, str]) -> None:
    """Starts the JVM if this process has none yet, with its standard error read by `_pass_on`.

    PySpark would do it later by itself, but the JVM would then print its warning about incubator modules, which no
    option turns off.
    """
    from pyspark import SparkConf, SparkContext, java_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    source, sink = os.pipe()
    threading.Thread(target=_pass_on, args=(source,), name="firesteel-jvm-stderr", daemon=True).start()
    try:
        launch: Any = java_gateway.launch_gateway
        with warnings.catch_warnings():
            # PySpark launches with a function to run between fork and exec. Python 3.12 and later warn about that in
            # a process with threads; it only sets a signal handler.
            warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
            with _python_path_for_workers():
                gateway = launch(conf, {"stderr": sink, "cwd": surroundings.start_of_spark()})
    finally:
        os.close(sink)
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _python_path_for_workers() -> Iterator[None]:
    """A JVM that is started meanwhile, and its Python workers, find our daemon. PySpark hands it these variables."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [before, str(DAEMON.parent)]))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _pass_on(source: int) -> None:
    """Copies the JVM's standard error to ours, without what a user does not want to see.

    To the file descriptor, so that pytest captures it with the test that was running.
    """
    import pyspark

    passed_on = PassedOn(_write_error, os.path.dirname(pyspark.__file__))
    with open(source, "rb", buffering=0) as said:
        while part := said.read(65536):
            passed_on.feed(part)
        passed_on.end()


def _write_error(text: bytes) -> None:
    # A closed standard error must not end the thread: the JVM would block when the pipe is full.
    while text:
        try:
            text = text[os.write(2, text) :]
        except OSError:
            return
