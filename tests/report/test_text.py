"""How a failure reads: the text is made from the report's data alone, so no Spark is needed here."""

import io
import re

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Record, Report, Stream, Trace, Verdict
from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.report import Asked, Claimed, Found, Program, Reproduction, Size
from firesteel.evidence.runs import Broken, Different
from firesteel.report.reasons import sentence
from firesteel.report.terminal import show
from firesteel.report.text import render

SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"


@fs.now
def user_15_misbehaves(now):
    return now.input.some(lambda r: r == (15, False))


@fs.now
def user_15_is_banned(now):
    return 15 in now.output.values("user")


RULE = fs.always(fs.implies(user_15_misbehaves, fs.always(user_15_is_banned, during=5)), during=10)


def banned_report():
    stream = Stream(SCHEMA, [[(1, True), (15, False)], [(1, True)], [(2, True)]])
    trace = Trace(
        [
            Instant(0, {"input": stream[0]}, {"output": Batch([Record(user=15)])}),
            Instant(1, {"input": stream[1]}, {"output": Batch([])}),
        ]
    )
    answers = {(user_15_misbehaves, 0): True, (user_15_misbehaves, 1): False}
    answers |= {(user_15_is_banned, 0): True, (user_15_is_banned, 1): False}
    case = fs.Case(stream)
    found = Broken(inputs=case, trace=trace, explanation=RULE.explain(trace, ended=False), answers=answers)
    return Report(
        Verdict.FALSE,
        20,
        found,
        asked=asked("forgetful", place="jobs/users.py:12", formula=RULE),
        found=Found(3, 20, shrunk_from=Size(22, 231), seen_again=True),
        reproduction=Reproduction(case, 2, "fs1:{}"),
    )


def asked(name, *, place=None, function="fs.for_all", **more):
    return Asked(function, programs=(Program("subject", name, place),), version="4.3.0", **more)


def test_the_failure_of_the_design():
    assert (
        render(banned_report())
        == """\
the property is false in batch 1

user_15_misbehaves held in batch 0, so user_15_is_banned had to hold in batches 0 to 4. It does not in batch 1.

  batch  input                  output   user_15_misbehaves  user_15_is_banned
  0      user=1   honest=True   user=15  yes                 yes
         user=15  honest=False
  1      user=1  honest=True    (none)   no                  NO                 <- false here
  (1 more batch was not needed)

property  always(user_15_misbehaves implies always(user_15_is_banned, during=5), during=10)
subject   forgetful (jobs/users.py:12), structured, append mode, Spark 4.3.0
found in  case 3 of 20; shrunk from 22 batches, 231 records; seen again when run alone

Keep it as a test:

  import firesteel as fs

  def test_forgetful_failed_on_this_case():
      case = fs.Stream(
          'user BIGINT NOT NULL, honest BOOLEAN NOT NULL',
          [
              [(1, True), (15, False)],
              [(1, True)],
              [(2, True)],
          ],
      )
      fs.for_all(
          case,
          forgetful,
          fs.always(fs.implies(user_15_misbehaves, fs.always(user_15_is_banned, during=5)), during=10),
      )

Run it again:
  fs.for_all(..., replay='fs1:{}')    # also in .hypothesis/; plain pytest tries it first"""
    )


P, Q = fs.now(lambda x: x == "p", name="p"), fs.now(lambda x: x == "q", name="q")


@pytest.mark.parametrize(
    "formula, trace, text",
    [
        (fs.always(P), "pq", "p had to hold in every batch. It does not in batch 1."),
        (fs.next_(fs.always(P)), "ppq", "p had to hold in every batch from batch 1 on. It does not in batch 2."),
        (fs.always(P, during=3), "pq", "p had to hold in batches 0 to 2. It does not in batch 1."),
        (fs.eventually(P, within=2), "qq", "p had to hold in one of batches 0 to 1. It does not in any of them."),
        (fs.until(P, Q), "p-", "p had to hold until q did. In batch 1 neither does."),
        (fs.until(P, Q, within=2), "pp", "q had to hold in one of batches 0 to 1. It does not in any of them."),
        (
            fs.release(P, Q, during=3),
            "q-",
            "q had to hold in batches 0 to 2, up to where p holds as well. It does not in batch 1.",
        ),
        (fs.always(~P), "qp", "p had to be false in batch 1. It holds there."),
        (fs.always(P | Q), "p-", "p or q had to hold in batch 1. Neither does."),
        (P & Q, "p", "q had to hold in batch 0. It does not."),
        (fs.next_(P), "pq", "p had to hold in batch 1. It does not."),
        (fs.let(lambda x: fs.next_(P)), "pq", "p had to hold in batch 1. It does not."),
        (
            fs.always(fs.implies(P, fs.eventually(Q, within=2))),
            "-pp-",
            "p held in batch 1, so q had to hold in one of batches 1 to 2. It does not in any of them.",
        ),
        (
            fs.always(fs.implies(Q, fs.once(P))),
            "-q",
            "q held in batch 1, so p had to hold in one of batches 0 to 1. It does not in any of them.",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_sentences(formula, trace, text):
    assert sentence(formula.explain(trace)) == text


def test_every_false_formula_has_a_sentence():
    import random

    from tests.logic.random_formulas import random_formula

    rng = random.Random(5)
    told = 0
    for _ in range(2_000):
        formula = random_formula(rng, rng.randint(1, 4))
        trace = [rng.randint(0, 3) for _ in range(rng.randint(1, 6))]
        reason = formula.explain(trace)
        if reason.verdict is Verdict.FALSE:
            told += 1
            assert sentence(reason).endswith(".")
    assert told > 500


def test_a_success_and_an_empty_property():
    assert render(Report(Verdict.TRUE, 20)) == "true in 20 cases"
    never = Nothing(Missing.PREMISE, P)
    text = render(Report(Verdict.INCONCLUSIVE, 5, never, asked=Asked("fs.for_all", formula=RULE)))
    assert text.startswith("the property says nothing here\n\nthe premise p never held in any case")
    assert "\n\nproperty  always(" in text


def test_long_batches_and_traces_are_cut():
    batch = Batch([(n, True) for n in range(50)], schema=SCHEMA)
    stream = Stream(SCHEMA, [batch] * 60)
    trace = Trace(Instant(k, {"input": batch}, {"output": Batch()}) for k in range(60))
    case = fs.Case(stream)
    found = Broken(inputs=case, trace=trace, explanation=fs.FALSE.explain([]))
    again = Reproduction(case, 60, "x" * 5_000, ".firesteel/replay-1.txt")
    text = render(Report(Verdict.FALSE, 1, found, asked=asked("job"), reproduction=again))
    assert 'fs.for_all(..., job, replay=".firesteel/replay-1.txt")' in text
    assert "(44 more)" in text and "(30 earlier batches are not shown)" in text and "x" * 100 not in text


def test_colours_only_on_a_terminal(monkeypatch):
    failure = fs.Falsified(render(banned_report()), banned_report())
    plain = io.StringIO()
    show(failure, plain)
    assert plain.getvalue() == f"Falsified: {failure}\n" and "\x1b" not in plain.getvalue()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    show(failure, terminal)
    bold_red = "\x1b[1;31m"
    assert terminal.getvalue().startswith(f"{bold_red}Falsified: the property is false in batch 1")
    assert re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()) == plain.getvalue(), "the same text, in colours"


def test_what_was_asked_is_named():
    stream = fs.Stream("n INT", [[(1,)]])
    trace = fs.Trace([fs.Instant(0, {"input": stream[0]}, {"as it is": stream[0], "2 partitions": stream[0]})])
    case = fs.Case(stream)
    found = Different(inputs=case, trace=trace, reason="they differ")
    how = asked("job", function="fs.stable", claimed=Claimed.STABILITY)
    text = render(Report(Verdict.FALSE, 1, found, asked=how, reproduction=Reproduction(case, 1, "AAAA")))
    assert text.startswith("the stability is false in batch 0\n\nthey differ\n\n")
    assert "fs.stable(case, job)" in text and "fs.stable(..., replay='AAAA')" in text
