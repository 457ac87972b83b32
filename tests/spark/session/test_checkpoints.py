"""Checkpoint folders: where they are, that Spark writes plain files there, and that nothing stays behind."""

import glob
import os
import tempfile

from pyspark.sql import functions as F

import firesteel as fs
from firesteel.spark.session import checkpoints


def test_a_local_session_has_a_file_system_that_runs_no_programs(spark):
    folder = checkpoints.new_folder(spark)
    assert folder.startswith("firesteel:///")
    path = spark._jvm.org.apache.hadoop.fs.Path(folder)
    files = path.getFileSystem(spark._jsc.hadoopConfiguration())
    assert files.getClass().getName() == "firesteel.PlainLocalFileSystem"
    on_disk = folder.removeprefix("firesteel://")
    files.create(spark._jvm.org.apache.hadoop.fs.Path(folder, "some")).close()
    assert os.listdir(on_disk) == ["some"], "and no checksum beside it"
    checkpoints.remove(spark, folder)
    assert not os.path.exists(on_disk)


def test_a_run_writes_its_checkpoint_there_and_takes_it_away(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pattern = f"{tmp_path}/firesteel-*/**"

    def count_and_look(frame):
        # Python code within the query: it looks while the run is under way.
        look = F.udf(lambda key: "\n".join(glob.glob(pattern, recursive=True)), "string")
        return frame.groupBy((F.col("n") % 2).alias("key")).count().select("count", look("key").alias("files"))

    trace = fs.run(fs.Stream("n INT", [[(1,), (2,)], [(3,)]]), count_and_look, output_mode="update", spark=spark)
    (last,) = trace[1].output
    assert last.count == 2, "batch 1 found the state of batch 0"
    files = [os.path.relpath(file, tmp_path).partition("/")[2] for file in last.files.split("\n")]
    assert {"offsets/0", "offsets/1", "commits/0"} <= set(files)
    assert any(file.startswith("state/0/") and file.endswith("/1.delta") for file in files), files
    assert os.listdir(tmp_path) == []


def test_a_location_of_the_session_comes_first(spark, tmp_path):
    spark.conf.set("spark.sql.streaming.checkpointLocation", f"file://{tmp_path}/")
    try:
        assert checkpoints.new_folder(spark).startswith(f"file://{tmp_path}/firesteel-")
    finally:
        spark.conf.unset("spark.sql.streaming.checkpointLocation")


def test_elsewhere_executors_do_not_have_the_class():
    class Cluster:
        class sparkContext:
            master = "local-cluster[2,1,1024]"

        class conf:
            @staticmethod
            def get(key, default):
                return default

    assert checkpoints.new_folder(Cluster).startswith("/")
