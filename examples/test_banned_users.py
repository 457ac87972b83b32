"""Banned users, example 1 of the sscheck paper: who misbehaves is banned for good.

The job keeps everyone who ever misbehaved. The wrong one forgets: it bans a user in the very batch of the offence
only, and is found out one batch later.
"""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import DataFrame

import firesteel as fs
from firesteel import strategies as ss

SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"
good = ss.batches(ss.records(SCHEMA, user=st.integers(1, 50), honest=st.just(True)), max_size=5)
bad = ss.batches(ss.records(SCHEMA, user=st.just(15), honest=st.just(False)), min_size=1, max_size=1)
# Honest users, until user 15 misbehaves in one of the first four batches; then anything goes.
events = ss.concat(ss.until(good, ss.overlay(good, bad), within=4), ss.always(good | bad, during=6))


def banned_users(events: DataFrame) -> DataFrame:
    return events.where("NOT honest").groupBy("user").count().select("user")


def forgetful(events: DataFrame) -> DataFrame:
    return events.where("NOT honest").select("user")


@fs.now
def nothing_happened(now: fs.Instant) -> bool:
    return bool(now.input.every(lambda r: r.honest)) and not now.output


@fs.now
def user_15_misbehaves(now: fs.Instant) -> fs.Check:
    return now.input.some(lambda r: r == (15, False))


@fs.now
def user_15_is_banned(now: fs.Instant) -> bool:
    return 15 in now.output.values("user")


bans_last = fs.until(nothing_happened, user_15_is_banned, within=4) & fs.always(
    fs.implies(user_15_misbehaves, fs.always(user_15_is_banned, during=3)), during=4
)


@pytest.mark.slow
def test_bans_last() -> None:
    fs.for_all(events, banned_users, bans_last, output_mode="complete", cases=20)


def test_a_ban_that_is_forgotten_is_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in batch 1") as failure:
        fs.for_all(events, forgetful, bans_last, cases=20)
    found = failure.value.report.counterexample
    assert found is not None
    assert found.trace[0].input == [(15, False)] and not found.trace[1].input and not found.trace[1].output


@pytest.mark.slow
def test_the_whole_specification_in_one_line() -> None:
    def all_who_ever_misbehaved(now: fs.Instant) -> fs.Check:
        return now.output.same_set_as({(r.user,) for r in now.so_far.input if not r.honest})

    fs.for_all(events, banned_users, fs.always(all_who_ever_misbehaved), output_mode="complete", cases=20)


def test_kept_from_a_failure() -> None:
    trace = fs.run(fs.Stream(SCHEMA, [[(15, False)], [(1, True)]]), banned_users, output_mode="complete")
    assert trace[1].output == [(15,)]
    assert fs.always(user_15_is_banned).evaluate(trace)
