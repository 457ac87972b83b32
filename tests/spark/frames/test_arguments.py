"""What `fs.assert_same` refuses, and whose error it says Spark's is."""

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import InvalidArgument


def test_what_is_not_a_frame_is_refused(spark):
    frame = spark.range(1)
    pandas = frame.toPandas()
    connect = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    stream = spark.readStream.format("rate").load()
    for wrong, said in [
        ([1], r"right=\[1\] \(list\) is not a Spark DataFrame: write spark.createDataFrame"),
        (pandas, "is not a Spark DataFrame"),
        (connect, "right=... is a DataFrame of Spark Connect"),
        (stream, "right=... is a streaming DataFrame"),
        (spark.newSession().range(1), "different Spark sessions"),
    ]:
        with pytest.raises(InvalidArgument, match=said):
            fs.assert_same(frame, wrong)
    with pytest.raises(InvalidArgument, match=r"left=None \(NoneType\)"):
        fs.assert_same(None, frame)


def test_wrong_options_are_refused(spark):
    frame = spark.range(1)
    with pytest.raises(InvalidArgument, match="dependence='ordered'"):
        fs.assert_same(frame, frame, dependence="ordered")
    with pytest.raises(InvalidArgument, match=r"equal=0\.1"):
        fs.assert_same(frame, frame, equal=0.1)
    with pytest.raises(InvalidArgument, match=r"same_key\('user'\) asks for the column 'user': the frames have 'id'"):
        fs.assert_same(frame, frame, dependence=fs.same_key("user"))
    with pytest.raises(InvalidArgument, match="does not go with"):
        fs.assert_same(frame, frame, dependence=fs.same_key("id"), equal=fs.equality(ignore=["id"]))


def test_an_error_of_spark_says_which_frame_it_came_from(spark):
    good, bad = spark.range(3), spark.range(3).select(F.raise_error(F.lit("boom")).cast("long").alias("id"))
    for frames, side in (((good, bad), "right"), ((bad, good), "left")):
        with pytest.raises(Exception, match="boom") as failure:
            fs.assert_same(*frames)
        assert failure.value.__notes__ == [f"fs.assert_same: Spark could not compute {side}"]
