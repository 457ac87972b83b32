"""Event logs as they are found: files, folders, packed in Spark's ways, cut off, damaged, empty, of other versions."""

import json
import random
import sys
from pathlib import Path

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history.logs import codecs
from firesteel.history.logs.files import Remote, located
from firesteel.history.logs.layout import layouts
from firesteel.history.logs.reading import EventLog
from firesteel.history.samples import job, job_end, log
from tests.history import real

SMALL = log(job(0, {}), job_end(0), job(1, {}), job_end(1))
TEXT = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in SMALL).encode()
PAIRED = "[] (job_started -> <> job_succeeded)"


def written(path: Path, content: bytes = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def found(path, rule=PAIRED):
    """What `fs.verify` says: the failure's name, or None; and the trace."""
    try:
        report = fs.verify(fs.event_log(path), rule)
    except fs.Failed as failure:
        return type(failure), failure.report.evidence.traces[0]
    return None, report.evidence.traces[0]


# --- where logs are ------------------------------------------------------------------------------------------------


def test_a_single_file(tmp_path):
    failure, trace = found(written(tmp_path / "app-1"))
    assert failure is None and trace.events == len(SMALL) and trace.id == "app-1" and trace.version == "4.3.0"


def test_a_rolling_folder_is_read_in_the_order_of_its_numbers(tmp_path):
    folder = tmp_path / "eventlog_v2_app-1"
    lines = TEXT.splitlines(keepends=True)
    for number, line in enumerate([*[b""] * (11 - len(lines)), *lines], 1):
        written(folder / f"events_{number}_app-1", line)
    written(folder / "appstatus_app-1", b"")
    assert [event["Event"] for event in fs.event_log(folder)] == [event["Event"] for event in SMALL]
    assert found(folder)[0] is None


def test_a_rolling_folder_with_a_gap_is_not_complete(tmp_path):
    folder = tmp_path / "eventlog_v2_app-1"
    lines = TEXT.splitlines(keepends=True)
    written(folder / "events_1_app-1", b"".join(lines[:2]))
    written(folder / "events_3_app-1", b"".join(lines[4:]))
    failure, trace = found(folder)
    assert failure is fs.Inconclusive and trace.problems == (f"{folder}: the file events_2_... is missing",)
    assert trace.events == len(SMALL) - 2


def test_a_compacted_folder_takes_the_place_of_what_it_compacted(tmp_path):
    folder = tmp_path / "eventlog_v2_app-1"
    lines = TEXT.splitlines(keepends=True)
    written(folder / "events_1_app-1", b"what is here was compacted\n")
    written(folder / "events_2_app-1.compact", b"".join(lines[:4]))
    written(folder / "events_3_app-1", b"".join(lines[4:]))
    failure, trace = found(folder)
    assert failure is fs.Inconclusive and trace.events == len(SMALL)
    assert "the history server compacted it" in trace.problems[0]


def test_the_applications_of_a_history_folder_are_named_one_by_one(tmp_path):
    written(tmp_path / "app-1")
    written(tmp_path / "eventlog_v2_app-2" / "events_1_app-2", TEXT.replace(b"app-1", b"app-2"))
    written(tmp_path / "app-3.inprogress", b"".join(TEXT.splitlines(keepends=True)[:-2]).replace(b"app-1", b"app-3"))
    written(tmp_path / ".app-1.crc", b"not a log")
    logs = fs.event_log(tmp_path)
    assert [Path(one.path).name for one in logs.applications] == ["app-1", "app-3.inprogress", "eventlog_v2_app-2"]
    with pytest.raises(fs.Inconclusive) as failure:
        fs.verify(logs, PAIRED)
    message = str(failure.value)
    assert f"{tmp_path}/app-3.inprogress (app-3): inconclusive" in message and "(app-2): true" in message
    assert "the application is still running, or was killed" in message


def test_a_file_that_is_not_a_log_does_not_hide_the_others(tmp_path):
    written(tmp_path / "app-1")
    written(tmp_path / "notes.txt", b"these are notes\n")
    with pytest.raises(fs.Inconclusive) as failure:
        fs.verify(fs.event_log(tmp_path), PAIRED)
    assert "notes.txt begins with b'these ar', which is neither an event log nor packed" in str(failure.value)
    assert [trace.verdict.name for trace in failure.value.report.evidence.traces] == ["TRUE", "INCONCLUSIVE"]


def test_a_file_system_of_arrow_is_read_too(tmp_path):
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    written(tmp_path / "logs" / "app-1")
    written(tmp_path / "logs" / "eventlog_v2_app-2" / "events_1_app-2")
    remote = Remote(SubTreeFileSystem(str(tmp_path), LocalFileSystem()))
    logs = EventLog(remote, tuple(layouts(remote, "logs", "logs")), "logs")
    assert [len(list(one)) for one in logs.applications] == [len(SMALL)] * 2 and logs.size == 2 * len(TEXT)
    assert remote.is_folder("nowhere") is None


def test_a_file_system_of_fsspec_is_read_too():
    import fsspec

    memory = fsspec.filesystem("memory")
    for name in ("/logs/app-1", "/logs/eventlog_v2_app-2/events_1_app-2"):
        with memory.open(name, "wb") as file:
            file.write(TEXT)
    try:
        logs = fs.event_log("memory://logs")
        assert [len(list(one)) for one in logs.applications] == [len(SMALL)] * 2
        assert found("memory://logs/app-1")[0] is None
    finally:
        memory.rm("/logs", recursive=True)


def test_without_fsspec_a_remote_path_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(fs.InvalidArgument, match="Install fsspec and the package for memory:// "):
        fs.event_log("memory://logs/app-1")


def test_a_path_with_a_scheme(tmp_path):
    written(tmp_path / "app-1")
    assert len(list(fs.event_log(f"file://{tmp_path}/app-1"))) == len(SMALL)
    system, path = located("hdfs-is-not-here/app")
    assert path == "hdfs-is-not-here/app" and type(system).__name__ == "Local"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (3, "path=3 (int) is not a path"),
        ("", "path='' (str) is not a path"),
        ("/nowhere/app-1", "path='/nowhere/app-1' (str) does not exist"),
        ("nothing://logs/app-1", "path='nothing://logs/app-1' (str) cannot be reached: Arrow says"),
    ],
)
def test_a_path_that_leads_nowhere(path, message):
    with pytest.raises(fs.InvalidArgument) as error:
        fs.event_log(path)
    assert message in str(error.value)


def test_a_folder_without_a_log(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(fs.InvalidArgument, match="is a folder without an event log"):
        fs.event_log(tmp_path / "empty")


# --- how they are packed -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(spark, tmp_path_factory):
    """The same log, long enough for several blocks, in each of Spark's own framings, packed by Spark itself."""
    folder = tmp_path_factory.mktemp("packed")
    draw = random.Random(0)
    noise = [f'{{"Event":"com.acme.Noise","n":{draw.getrandbits(400)}}}\n'.encode() for _ in range(3_000)]
    begin, end = TEXT.splitlines(keepends=True)[:-1], TEXT.splitlines(keepends=True)[-1:]
    text = b"".join([*begin, *noise, *end])  # several blocks in each framing
    jvm = spark._jvm
    conf = spark.sparkContext._jsc.sc().getConf()
    for codec in ("zstd", "lz4", "snappy", "lzf"):
        made = jvm.org.apache.spark.io.CompressionCodec.createCodec(conf, codec)
        out = made.compressedOutputStream(jvm.java.io.FileOutputStream(str(folder / f"app-1.{codec}")))
        for start in range(0, len(text), 50_000):
            out.write(bytearray(text[start : start + 50_000]))
        out.close()
    return folder, text


@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_every_codec_of_spark_is_read(packed, codec):
    folder, text = packed
    content = (folder / f"app-1.{codec}").read_bytes()
    assert codecs.codec_of(content) == codec and len(content) < len(text)
    for size in (1 << 20, 1000):  # in one piece, and in many
        pieces = (content[at : at + size] for at in range(0, len(content), size))
        assert b"".join(codecs.DECODERS[codec](pieces)) == text
    assert sum(1 for _ in fs.event_log(folder / f"app-1.{codec}")) == text.count(b"\n")


@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_what_comes_before_the_cut_is_not_lost(packed, codec, tmp_path):
    folder, text = packed
    content = (folder / f"app-1.{codec}").read_bytes()
    cut = written(tmp_path / f"app-1.{codec}", content[: len(content) * 3 // 4])
    failure, trace = found(cut)
    assert failure is fs.Inconclusive and trace.problems[0].startswith(f"app-1.{codec}: it ")
    assert text.count(b"\n") / 3 < trace.events < text.count(b"\n") and len(trace.problems) == 1


def test_blocks_that_are_not_what_they_should_be():
    for name, content in (
        ("lz4", b"LZ4Block" + b"\x20" + b"\x04\0\0\0" + b"\xff\0\0\0" + b"\0\0\0\0" + b"\xff\xff\xff\xff"),
        ("lz4", b"LZ4Block" + b"\x30" + b"\x04\0\0\0" + b"\x04\0\0\0" + b"\0\0\0\0" + b"abcd"),
        ("lz4", b"something else here"),
        ("snappy", b"\x82SNAPPY\x00" + b"\0\0\0\x01\0\0\0\x01" + b"\0\0\0\x04" + b"\x05\xff\xff\xff"),
        ("lzf", b"ZV\x01\x00\x02\x00\x09\xff\xff"),
        ("lzf", b"XX\x01\x00"),
    ):
        with pytest.raises(codecs.Damaged, match=r"at byte 0|at byte 16"):
            list(codecs.DECODERS[name](iter([content])))


def test_lzf_repeats_what_it_is_about_to_write():
    # "ab", then six bytes from two back: a run that overlaps itself.
    assert codecs._lzf(bytes([1, *b"ab", (4 << 5), 1]), 8) == b"abababab"


def test_an_unknown_codec_is_refused_with_what_to_do(tmp_path):
    packed = written(tmp_path / "app-1.gz", b"\x1f\x8b\x08\x00something")
    with pytest.raises(fs.InvalidArgument) as error:
        fs.event_log(packed)
    assert "app-1.gz begins with b'\\x1f\\x8b" in str(error.value) and "(zstd, lz4, snappy, lzf)" in str(error.value)


# --- what is wrong with them ---------------------------------------------------------------------------------------


def test_an_empty_log_decides_nothing(tmp_path):
    failure, trace = found(written(tmp_path / "app-1", b""))
    assert failure is fs.Inconclusive and trace.events == 0 and "the log is empty" in trace.notes[0]


def test_a_log_without_its_end_is_never_taken_as_complete(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    failure, trace = found(written(tmp_path / "app-1", b"".join(lines[:-1])), "[] not job_failed")
    assert failure is fs.Inconclusive and not trace.complete
    assert trace.notes == (
        "the log is not complete: it ends without the end of the application; it may have been cut off",
    )
    failure, _ = found(written(tmp_path / "app-2", b"".join(lines[:-1])), "[] not job_started")
    assert failure is fs.Falsified  # what is broken is broken, whatever comes


def test_a_line_that_is_cut_off_is_the_end_of_what_can_be_read(tmp_path):
    failure, trace = found(written(tmp_path / "app-1.inprogress", TEXT[:-10]))
    assert failure is fs.Inconclusive and trace.events == len(SMALL) - 1 and not trace.problems
    assert "its last line is cut off; the application is still running, or was killed" in trace.notes[0]


def test_a_line_that_is_cut_off_before_the_last_file_is_a_problem(tmp_path):
    folder, lines = tmp_path / "eventlog_v2_app-1", TEXT.splitlines(keepends=True)
    written(folder / "events_1_app-1", b"".join(lines[:3])[:-10])
    written(folder / "events_2_app-1", b"".join(lines[3:]))
    failure, trace = found(folder)
    assert failure is fs.Inconclusive and trace.problems[0].startswith("events_1_app-1:3: the line is not JSON")


def test_a_definite_verdict_needs_no_end(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    failure, _ = found(written(tmp_path / "app-1", b"".join(lines[:-1])), "<> job_succeeded")
    assert failure is None


def test_a_damaged_line_is_named_and_the_others_are_read(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    lines[3] = b'{"Event":"SparkListenerJobEnd","Job ID":0,\n'
    log = written(tmp_path / "app-1", b"".join(lines))
    failure, trace = found(log)
    assert failure is fs.Inconclusive and trace.events == len(SMALL) - 1
    assert trace.problems[0].startswith("app-1:4: the line is not JSON: ")


def test_events_before_the_error_are_given_out(tmp_path):
    log = fs.event_log(written(tmp_path / "app-1", TEXT + b"nonsense\n" + TEXT))
    read = []
    with pytest.raises(fs.InvalidArgument, match=r"app-1:\d+: the line is not JSON"):
        for event in log:
            read.append(event)
    assert len(read) == 2 * len(SMALL)


def test_what_is_broken_after_a_damaged_line_is_doubtful(tmp_path):
    # The job's end may stand in the line that cannot be read.
    lines, ends_first = TEXT.splitlines(keepends=True), "[] (job_started -> next job_succeeded)"
    assert found(written(tmp_path / "app-1"), ends_first)[0] is None
    failure, trace = found(written(tmp_path / "app-1", b"".join([*lines[:3], b"?\n", *lines[4:]])), ends_first)
    assert failure is fs.Inconclusive and trace.rules[0].doubtful and not trace.rules[0].violations
    failure, _ = found(written(tmp_path / "app-1", b"".join([*lines[:-1], b"?\n", lines[-1]])), "[] not job_started")
    assert failure is fs.Falsified  # it was broken before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1, 2]", 'the line is not an event: it has no "Event"'),
        (b'{"no":"Event"}', 'the line is not an event: it has no "Event"'),
        (b'{"Event":"SparkListenerJobStart"}', "SparkListenerJobStart has no 'Job ID'"),
        (b'{"Event":"SparkListenerJobEnd","Job ID":7,"Job Result":3}', "SparkListenerJobEnd is not as Spark writes it"),
        (b'{"Event":"SparkListenerTaskEnd","Stage ID":1}', "SparkListenerTaskEnd has no 'Stage Attempt ID'"),
        (b'{"Event":"SparkListenerStageSubmitted","Stage Info":[]}', "SparkListenerStageSubmitted is not as Spark"),
    ],
)
def test_an_event_that_is_not_as_spark_writes_it(tmp_path, line, message):
    lines = TEXT.splitlines(keepends=True)
    log = written(tmp_path / "app-1", b"".join([*lines[:2], line + b"\n", *lines[2:]]))
    failure, trace = found(log, [rules.attempts_at_most(3), PAIRED])
    assert failure is fs.Inconclusive and trace.problems[0].startswith(f"app-1:3: {message}")


def test_a_log_of_another_version_says_so(tmp_path):
    for version, noted in (("2.4.8", True), ("5.0.0", True), ("3.5.1", False), ("4.3.0-SNAPSHOT", False)):
        failure, trace = found(written(tmp_path / "app-1", TEXT.replace(b'"4.3.0"', f'"{version}"'.encode())))
        assert failure is None and any(f"written by Spark {version}" in note for note in trace.notes) is noted


def test_an_unknown_event_is_noted_once(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    other = b'{"Event":"com.acme.Audit","n":1}\n'
    failure, trace = found(written(tmp_path / "app-1", b"".join([*lines[:2], other, other, *lines[2:]])))
    assert failure is None and trace.events == len(SMALL) + 2
    assert trace.notes == ("the event com.acme.Audit (app-1:3) is not one of Spark's: no proposition comes from it",)


def test_blank_lines_and_spaces_do_not_matter(tmp_path):
    text = "\n\n".join(json.dumps(event) for event in SMALL)  # with spaces after : and ,
    failure, trace = found(written(tmp_path / "app-1", text.encode() + b"\n"))
    assert failure is None and trace.events == len(SMALL)


def test_lines_are_read_narrowly_and_wholly_with_the_same_result():
    # A proposition that looks at fields has every event read as a whole; the rules must not notice.
    looks = rules.Rule("LOOKS", "[] not odd", propositions={"odd": "exists `no such field`"})
    for name in real.NAMES:
        log = real.log(name)
        narrow, whole = real.broken_by(log, *real.GENEROUS), real.broken_by(log, *real.GENEROUS, looks)
        assert narrow == whole
