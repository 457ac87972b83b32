"""Checkpoint folders, on a file system that is quick where driver and executors are one process.

PySpark from PyPI comes without Hadoop's native library. Hadoop's local file system then runs `chmod` for every file and
for every checksum of a file, and a micro-batch spends a third of its time on that. So the driver gets a local file
system that leaves permissions alone, in a scheme of its own. It is compiled by Janino, which Spark has for its own
generated code. On a cluster the executors would not have the class, so there Hadoop's own file system is used.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from firesteel.spark.jvm import array, bytecode, class_named
from firesteel.spark.session import folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME = "firesteel"
_CLASS = "firesteel.PlainLocalFileSystem"
_SOURCE = f"""
package firesteel;

public class PlainLocalFileSystem extends org.apache.hadoop.fs.RawLocalFileSystem {{
    public java.net.URI getUri() {{ return java.net.URI.create("{_SCHEME}:///"); }}
    public String getScheme() {{ return "{_SCHEME}"; }}
    public void setPermission(
        org.apache.hadoop.fs.Path path, org.apache.hadoop.fs.permission.FsPermission permission) {{ }}
}}
"""


def new_folder(spark: SparkSession) -> str:
    """The path of a folder that does not exist yet: below the session's checkpoint location if it has one."""
    base = spark.conf.get("spark.sql.streaming.checkpointLocation", None)
    name = folders.new_name()
    if base:
        return f"{base.rstrip('/')}/{name}"
    folder = f"{tempfile.gettempdir().rstrip('/')}/{name}"
    return f"{_SCHEME}://{folder}" if folder.startswith("/") and _is_there(spark) else folder


def remove(spark: SparkSession, folder: str) -> None:
    """Removes a checkpoint folder with everything in it."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)


def _is_there(spark: SparkSession) -> bool:
    """Is the quick file system there, made now if need be?"""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    if not str(spark.sparkContext.master).startswith("local["):
        return False
    key, settings = f"fs.{_SCHEME}.impl", spark._jsc.hadoopConfiguration()
    if settings.get(key) is None:
        try:
            _define(spark._jvm, spark.sparkContext._gateway)
            settings.set(key, _CLASS)
        except Py4JError:  # a JVM that does not allow it: Spark started in an older way, or a newer Java
            settings.set(key, "")
    return bool(settings.get(key))


def _define(jvm: Any, gateway: Any) -> None:
    """Make the class known to the class loader that Spark's own classes come from."""
    loader = jvm.org.apache.hadoop.fs.RawLocalFileSystem().getClass().getClassLoader()
    try:
        loader.loadClass(_CLASS)
    except Exception:
        code = bytecode(jvm, _SOURCE, _CLASS, loader)
        number = jvm.java.lang.Integer.TYPE
        kinds = array(gateway, jvm.Class, class_named(jvm, "java.lang.String"), class_named(jvm, "[B"), number, number)
        define = class_named(jvm, "java.lang.ClassLoader").getDeclaredMethod("defineClass", kinds)
        define.setAccessible(True)
        define.invoke(loader, array(gateway, jvm.Object, _CLASS, code, 0, len(code)))
