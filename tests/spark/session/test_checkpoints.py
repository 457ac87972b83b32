"""Checkpoint folders: where they are, that Spark writes plain files there, and that nothing stays behind."""

import glob
import os
import tempfile

from pyspark.sql import functions as F

import firesteel as fs
from firesteel.spark.session import checkpoints

TMP = tempfile.gettempdir()


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


def test_a_run_writes_its_checkpoint_there_and_takes_it_away(spark):
    seen = []

    def count(frame):
        return frame.groupBy(F.col("n") % 2).count()

    def look(instant):
        seen.extend(glob.glob(f"{TMP}/firesteel-*/state/0/*/*.delta") + glob.glob(f"{TMP}/firesteel-*/offsets/*"))
        return True

    before = set(glob.glob(f"{TMP}/firesteel-*"))
    stream = fs.Stream("n INT", [[(1,), (2,)], [(3,)]])
    fs.for_all(_just(stream), count, fs.always(look), cases=1, output_mode="update", spark=spark)
    assert any("/state/" in path for path in seen) and any("/offsets/" in path for path in seen)
    assert set(glob.glob(f"{TMP}/firesteel-*")) <= before


def _just(stream):
    from hypothesis import strategies as st

    return st.just(stream)


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
