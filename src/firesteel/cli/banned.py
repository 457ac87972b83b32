"""The generator and the property of the demo: example 1 of the sscheck paper, with streams as long as it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import firesteel as fs

if TYPE_CHECKING:
    from firesteel.strategies import Streams

SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"


def events() -> Streams:
    """Honest users until user 15 misbehaves, in one of the first ten batches; then fourteen batches of either."""
    from hypothesis import strategies as st

    from firesteel import strategies as ss

    good = ss.records(SCHEMA, user=st.integers(1, 50), honest=st.just(True))
    bad = ss.records(SCHEMA, user=st.just(15), honest=st.just(False))
    good_batch = ss.batches(good, min_size=1, max_size=20)
    bad_batch = ss.overlay(good_batch, ss.batches(bad, min_size=1, max_size=1))
    return ss.concat(ss.until(good_batch, bad_batch, within=10), ss.always(good_batch | bad_batch, during=14))


@fs.now
def nothing_happened(now: fs.Instant) -> bool:
    return bool(now.input.every(lambda r: r.honest)) and not now.output


@fs.now
def user_15_misbehaves(now: fs.Instant) -> fs.Check:
    return now.input.some(lambda r: r == (15, False))


@fs.now
def user_15_is_banned(now: fs.Instant) -> bool:
    return 15 in now.output.values("user")


def formula() -> fs.Formula:
    """Nothing happens until user 15 is banned; and a ban lasts."""
    return fs.until(nothing_happened, user_15_is_banned, within=10) & fs.always(
        fs.implies(user_15_misbehaves, fs.always(user_15_is_banned, during=5)), during=10
    )
