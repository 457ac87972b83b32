"""The test that a failure prints is pasted, and fails again; and it passes once the subject is mended."""

import datetime
import textwrap

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Report, Stream, Verdict, perturb
from firesteel.evidence.report import Asked, Claimed, Program, Reproduction
from firesteel.report.again import again
from firesteel.runs.replay import encoded

STREAM = Stream("user BIGINT NOT NULL, honest BOOLEAN NOT NULL", [[(1, True), (15, False)], [(1, True)], []])


def forgetful(users):
    return users.where("NOT honest").select("user")


def keeps_all(users):
    return users.select("user")


@fs.now
def user_15_misbehaves(now):
    return now.input.some(lambda r: r == (15, False))


def nobody_else(now):
    return set(now.output.values("user")) <= {15, 1}


def breaks(users):
    return users.select(F.udf(lambda n: 1 // (n - 1), "bigint")("user").alias("user"))


RULE = fs.always(fs.implies(user_15_misbehaves, fs.next_(lambda now: 1 in now.output.values("user"))), during=2)


def pasted(text, **mended):
    """The printed test, as it runs where it is pasted into this file."""
    test = text.partition("Keep it as a test:\n")[2].partition("\nRun it again:")[0]
    names = {**globals()}
    exec(compile(textwrap.dedent(test), "<pasted>", "exec"), names)
    (name,) = set(names) - set(globals())
    names.update(mended)
    return names[name]


def failing(check, kind):
    with pytest.raises(kind) as failure:
        check()
    return str(failure.value)


def test_a_property(spark):
    text = failing(lambda: fs.for_all(STREAM, forgetful, RULE, spark=spark), fs.Falsified)
    assert "def test_forgetful_failed_on_this_case():" in text and "lambda now: 1 in now.output" in text
    with pytest.raises(fs.Falsified, match="false in batch 1"):
        pasted(text)()
    pasted(text, forgetful=keeps_all)()


def test_a_local_function_and_options(spark):
    def local_rule(now):
        return nobody_else(now) and now.index < 1

    text = failing(lambda: fs.for_all(STREAM, forgetful, local_rule, batch_interval="1 minute"), fs.Falsified)
    assert "def local_rule(now):" in text and "batch_interval='1 minute'" in text
    with pytest.raises(fs.Falsified, match="false in batch 1"):
        pasted(text)()


def test_a_subject_that_raises(spark):
    text = failing(lambda: fs.for_all(STREAM, breaks, nobody_else), fs.SubjectError)
    with pytest.raises(fs.SubjectError, match="ZeroDivisionError"):
        pasted(text)()
    pasted(text, breaks=keeps_all)()


@pytest.mark.slow
def test_two_programs(spark):
    text = failing(
        lambda: fs.equivalent(fs.Case({"users": STREAM}, n=2), keeps_all, forgetful, dependence=fs.same_key("user")),
        fs.Falsified,
    )
    assert "fs.equivalent(case, keeps_all, forgetful, dependence=fs.same_key('user'))" in text
    with pytest.raises(fs.Falsified):
        pasted(text)()
    pasted(text, forgetful=keeps_all)()


def first_of_all(users):
    return users.groupBy().agg(F.first("user").alias("user"))


@pytest.mark.slow
def test_one_program_however_it_is_run(spark):
    stream = Stream("user BIGINT NOT NULL", [[(n,) for n in range(8)]])
    check = lambda: fs.stable(stream, first_of_all, under=[perturb.row_order()], output_mode="complete")  # noqa: E731
    text = failing(check, fs.Falsified)
    assert "under=[perturb.row_order()]" in text and "from firesteel import perturb" in text
    with pytest.raises(fs.Falsified):
        pasted(text)()


# --- the text alone -------------------------------------------------------------------------------


def asked(function="fs.for_all", **more):
    program = Program("subject", "forgetful", function=forgetful)
    return Asked(function, programs=(program,), **{"formula": RULE, **more})


def test_a_long_case_is_replayed_from_its_file():
    case = fs.Case(Stream("s STRING", [[("x" * 200,)] * 20]))
    text = again(asked(), Reproduction(case, 1, encoded(case), ".firesteel/replay-12.txt"))
    assert text.count('replay=".firesteel/replay-12.txt"') == 2 and "xxxx" not in text
    assert "fs.for_all(\n          ...,\n          forgetful," in text


def test_a_pasted_test_takes_no_names_of_its_file():
    case = fs.Case(Stream("d DATE", [[(datetime.date(2030, 1, 1),)]]))
    text = again(asked(), Reproduction(case, 1, encoded(case)))
    test = textwrap.dedent(text.partition("Keep it as a test:\n")[2].partition("\nRun it again:")[0])
    assert test.strip().startswith("def test_forgetful_failed_on_this_case():\n    import datetime\n")
    names = {"datetime": "theirs"}
    exec(compile(test, "<pasted>", "exec"), names)
    assert names["datetime"] == "theirs"


def test_a_short_line_is_printed_as_it_is():
    case = fs.Case(Stream("n INT", [[(1,)]]))
    line = encoded(case)
    assert f"fs.for_all(..., replay={line!r})" in again(asked(), Reproduction(case, 1, line))


def test_a_case_without_a_line_says_why():
    case = fs.Case(Stream(None, [[object()]]))
    text = again(asked(), Reproduction(case, 1, "", why_no_line="the case has no replay line: value=<object> ..."))
    assert text.endswith("the case has no replay line: value=<object> ...")


def test_what_is_not_known_is_asked_for():
    how = Asked("fs.stable", Claimed.STABILITY, (Program("subject", "f.where('n > 1')", "jobs.py:7"),), formula=None)
    case = fs.Case(Stream("n INT", [[(1,)]]))
    text = again(how, Reproduction(case, 1, encoded(case)))
    assert "def test_failed_on_this_case():" in text and "# write here what subject is: subject" in text


def test_a_report_keeps_no_program_apart_by_its_function():
    assert Program("subject", "job", function=forgetful) == Program("subject", "job")
    assert "function" not in repr(Report(Verdict.TRUE, 1, asked=asked()).asked.programs)
