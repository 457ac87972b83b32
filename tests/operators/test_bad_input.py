"""Functions that misbehave: a clear answer within a limit, and the caller is unharmed."""

from __future__ import annotations

import functools
import math
import operator
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import firesteel as fs
from firesteel import operators
from firesteel.evidence.operators import Finding, Findings
from firesteel.operators.analysis import Wanted, analyze


def about(given: Any, *names: str, limit: float = 0.2, **options: Any) -> dict[str, Finding]:
    found: Findings = analyze(Wanted(operators.function(given), names, tests=40, limit=limit, **options))
    return {finding.property: finding for finding in found.findings}


def never_returns(x: int) -> int:
    while True:
        pass


def swallows_everything(x: int) -> int:
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def exits(x: int) -> int:
    sys.exit(3)


def exits_at_once(x: int) -> int:
    os._exit(4)


def kills_itself(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def eats_memory(x: int) -> int:
    return len(bytearray(1 << 40))


def dies_rarely(x: int) -> int:
    if x > 900:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def late_rarely(x: int) -> int:
    if x > 900:
        time.sleep(60)
    return x


def always_raises(x: int) -> int:
    raise ValueError("no")


def prints_much(x: int) -> int:
    print("x" * 100_000)
    return x


@pytest.mark.slow
@pytest.mark.parametrize("function", [never_returns, swallows_everything])
def test_a_function_that_never_returns(function: Any) -> None:
    finding = about(function, "stateless")["stateless"]
    assert finding.verdict is fs.Verdict.INCONCLUSIVE
    assert finding.why == "it did not return within 0.2 s"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (exits, "SystemExit: 3"),
        (exits_at_once, "exit code 4"),
        (kills_itself, "SIGKILL"),
        (eats_memory, "MemoryError"),
        (always_raises, "ValueError: no"),
    ],
)
def test_a_function_that_never_gives_anything(function: Any, said: str) -> None:
    finding = about(function, "commutative")["commutative"]
    assert finding.verdict is fs.Verdict.INCONCLUSIVE
    assert said in finding.why


_known: set[int] = set()


def refuses_what_it_knows(x: int) -> int:
    if x in _known:
        raise KeyError(x)
    _known.add(x)
    return x


@pytest.mark.parametrize(
    ("function", "said"), [(dies_rarely, "ended its process"), (late_rarely, "did not return within 0.1 s")]
)
def test_a_dead_or_late_worker_is_never_evidence(function: Any, said: str) -> None:
    found = about(function, "deterministic", "stateless", "commutative", "one_to_one", "total", limit=0.1)
    assert {finding.verdict for finding in found.values()} == {fs.Verdict.INCONCLUSIVE}
    # What was potentially found out says that not all tests came to an end.
    assert said in found["one_to_one"].trouble


def test_one_reason_is_said_once() -> None:
    text = str(fs.analyze(lambda x: x.nowhere))
    assert text.count("nothing says what f takes") == 1
    assert {line.split()[1] for line in text.splitlines() if line.startswith(("deterministic", "pure"))} == {"open"}
    raising = fs.analyze(always_raises, tests=100)
    assert raising["total"].evidence == "always_raises(0) raises ValueError: no"
    assert str(raising).count("it raised in every test (ValueError: no)") == 1
    assert (raising["deterministic"].tests, raising["stateless"].tests) == (100, 0)


def test_an_exception_is_no_output_to_compare() -> None:
    found = about(refuses_what_it_knows, "stateless", "commutative")
    assert {finding.verdict for finding in found.values()} == {fs.Verdict.INCONCLUSIVE}


def test_what_is_printed_is_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    assert about(prints_much, "one_to_one", "pure", "picklable")["one_to_one"].outputs == 40
    assert capfd.readouterr() == ("", "")


_changed: list[int] = []


def writes(path: Path, x: int) -> int:
    path.write_text(str(x))
    return x


def mutates_a_global(x: int) -> int:
    _changed.append(x)
    return x


def test_the_callers_process_is_unharmed(tmp_path: Path) -> None:
    found = about(functools.partial(writes, tmp_path / "out"), "pure", "stateless", sample=[1, 2])
    assert found["pure"].verdict is fs.Verdict.FALSE
    assert found["stateless"].verdict is fs.Verdict.INCONCLUSIVE and found["stateless"].outputs == 40
    assert about(mutates_a_global, "pure")["pure"].verdict is fs.Verdict.FALSE
    assert _changed == []


class Callable:
    def __call__(self, x: int) -> int:
        return x

    def method(self, x: int) -> int:
        return x


@pytest.mark.parametrize(
    "given",
    [
        lambda x: x,
        functools.partial(operator.add, 1),
        Callable(),
        Callable().method,
        len,
        math.sqrt,
        str.upper,
        "a".join,
        int,
    ],
    ids=["lambda", "partial", "object", "method", "builtin", "C", "unbound method", "bound builtin", "class"],
)
def test_every_sort_of_callable(given: Any) -> None:
    found = about(given, "deterministic")
    assert found["deterministic"].outputs, found["deterministic"].why


def test_inputs_that_cannot_be_found() -> None:
    finding = about(lambda x: x.nowhere, "deterministic")["deterministic"]
    assert finding.verdict is fs.Verdict.INCONCLUSIVE
    assert "write type hints, or inputs=st.integers(), or sample=[...]" in finding.why


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fs.analyze(3), "operator=3 (int) is not a function or an operator"),
        (lambda: fs.analyze(lambda a, b: a), "takes two arguments: a reducer or a UDF of two columns?"),
        (lambda: fs.analyze(lambda: 1), "takes no argument"),
        (lambda: fs.analyze(len, "fast"), "property='fast' (str) is not a property"),
        (lambda: fs.analyze(len, "associative"), "does not apply to function(len): these do: deterministic"),
        (lambda: fs.analyze(len, tests=0), "tests=0 (int) is not a number of tests"),
        (lambda: fs.analyze(len, seconds=0), "seconds=0 (int) is not a time"),
        (lambda: fs.analyze(len, equal=3), "equal=3 (int) is not an equality"),
        (lambda: fs.analyze(len, inputs=[1]), "inputs=[1] (list) is not a strategy"),
        (lambda: fs.analyze(len, sample=[]), "sample=[] (list) is empty"),
        (lambda: fs.analyze(len, "pure", replay="xx"), "replay='xx' (str) is not a line that fs.analyze printed"),
        (lambda: fs.analyze(len, suppress={"total": ""}), "is not a reason"),
        (lambda: fs.holds(len, 3), "claim=3 (int) is not the name of a property"),
        (lambda: operators.reducer(3), "function=3 (int) is not a function"),
        (lambda: operators.function(len, key=1.5), "key=1.5 (float) is not a key"),
        (lambda: operators.pandas_udf(len, input=3), "input=3 (int) is not a schema"),
        (lambda: fs.analyze(operators.pandas_udf(len)), "takes columns, and nothing says which"),
        (lambda: fs.analyze(operators.function(len), "partition_isolated"), "name a key"),
    ],
)
def test_refused(call: Any, said: str) -> None:
    with pytest.raises(fs.InvalidArgument) as refused:
        call()
    assert said in str(refused.value)


def test_what_never_returns_is_not_tried_for_every_property() -> None:
    found = about(never_returns)
    # The first property shows it; "potentially" would be wrong of the others, which were not tested.
    assert {finding.why for finding in found.values()} == {"it did not return within 0.2 s"}
    assert [finding.tests for finding in found.values()][1:] == [0] * (len(found) - 1)


def test_what_was_not_tested_is_not_called_potentially() -> None:
    found = analyze(Wanted(operators.function(always_raises), seconds=1e-6)).findings
    assert all(finding.why for finding in found if finding.property != "picklable")
    assert "no test could be made of it in the time that was left" in {finding.why for finding in found}


def test_what_gives_nothing_is_not_compared_after_pickling() -> None:
    finding = about(always_raises, "picklable")["picklable"]
    assert finding.why == "it can be loaded in a new process, but no test had any output to compare"


def test_what_is_seen_besides_is_said_in_words(tmp_path: Path) -> None:
    def connects(x: int) -> int:
        import socket

        with socket.socket() as made:
            made.connect_ex(("127.0.0.1", 9))
        return x

    def sorts(xs: list[int]) -> list[int]:
        xs.sort()
        return xs

    opened = fs.analyze(functools.partial(writes, tmp_path / "out"), "pure", sample=[1], tests=4)["pure"]
    assert opened.evidence == f"writes(1) opened the file {tmp_path / 'out'}"
    assert fs.analyze(connects, "pure")["pure"].evidence == "connects(0) connected to ('127.0.0.1', 9)"
    assert fs.analyze(sorts, "pure")["pure"].evidence == "sorts([1, 0]) changed its argument: [1, 0] became [0, 1]"
