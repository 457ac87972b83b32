"""Explanations name the sub-formula, the instants and the records."""

import firesteel as fs
from firesteel import Batch, Check, Instant, Record, Trace, Verdict

T, F = Verdict.TRUE, Verdict.FALSE


@fs.now
def misbehaves(now):
    return now.input.some(lambda r: not r.honest)


@fs.now
def banned(now):
    return now.output.some(lambda r: r.user == 15)


def trace():
    bad, good = Record(user=15, honest=False), Record(user=1, honest=True)
    return Trace(
        [
            Instant(0, {"input": Batch([good, bad])}, {"output": Batch([Record(user=15)])}),
            Instant(1, {"input": Batch([good])}, {"output": Batch()}),
        ]
    )


def test_the_banned_user_of_the_design():
    formula = fs.always(fs.implies(misbehaves, fs.always(banned, during=5)), during=10)
    reason = formula.explain(trace(), ended=False)
    assert (reason.verdict, reason.at, reason.instants) == (F, 0, range(10))
    (implication,) = reason.because
    premise, then = implication.because
    assert (premise.formula, premise.verdict, premise.at) == (misbehaves, T, 0)
    assert premise.records == (Record(user=15, honest=False),)
    assert (then.formula, then.verdict, then.instants) == (fs.always(banned, during=5), F, range(5))
    (leaf,) = then.because
    assert (leaf.formula, leaf.verdict, leaf.at) == (banned, F, 1)
    assert leaf.check == Check(False, "none of 0 records satisfies r.user == 15", ())


def told(formula, values, **options):
    return [(str(leaf.formula), leaf.at, leaf.verdict is T) for leaf in formula.explain(values, **options).leaves()]


P, Q = fs.now(lambda x: x == "p", name="p"), fs.now(lambda x: x == "q", name="q")


def test_each_operator_names_what_decided():
    assert told(fs.always(P), "ppq") == [("p", 2, False)]
    assert told(fs.eventually(P, within=2), "qq") == [("p", 0, False), ("p", 1, False)]
    assert told(fs.eventually(P), "qpq") == [("p", 1, True)]
    assert told(fs.until(P, Q), "pp-") == [("q", 0, False), ("q", 1, False), ("q", 2, False), ("p", 2, False)]
    assert told(fs.until(P, Q), "ppq") == [("p", 0, True), ("p", 1, True), ("q", 2, True)]
    assert told(fs.release(P, Q, during=3), "qq-")[-1] == ("q", 2, False)
    assert told(P & Q, "p") == [("q", 0, False)]
    assert told(P | Q, "-") == [("p", 0, False), ("q", 0, False)]
    assert told(~P, "p") == [("p", 0, True)]
    assert told(fs.next_(P, times=2), "--q") == [("p", 2, False)]
    assert told(fs.let(lambda x: fs.next_(P)), "pq") == [("p", 1, False)]
    assert told(fs.consume(lambda x: P), "pq") == [("p", 1, False)]
    assert told(fs.next_(fs.previously(P)), "qp") == [("p", 0, False)]
    assert told(fs.next_(fs.historically(P)), "qp") == [("p", 0, False)]
    assert told(fs.next_(fs.once(P)), "qq") == [("p", 1, False), ("p", 0, False)]
    assert told(fs.next_(fs.since(P, Q)), "q-")[-1] == ("p", 1, False)


def test_an_open_eventually_is_not_blamed_for_what_another_part_did():
    formula = fs.eventually(P) & fs.always(Q)
    assert told(formula, "q-", ended=False) == [("q", 1, False)]


def test_a_check_that_a_body_returned_keeps_its_records():
    (leaf,) = fs.let(lambda now: now.output.none(lambda r: r.user == 15)).explain(trace()).leaves()
    assert leaf.records == (Record(user=15),)
