"""A temporal rule of one key: its state, and what one more micro-batch makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument
from firesteel.evidence.monitoring import Next, Now, Said
from firesteel.logic.ltl.fingerprint import fingerprint
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.ltl.standing import Judged, Standing
from firesteel.logic.verdicts import Verdict
from firesteel.monitoring.live import Instants, LiveInstant, milliseconds, moment
from firesteel.monitoring.reasons import Answers, atoms_of
from firesteel.names import counted
from firesteel.values.as_json import of_json, to_json
from firesteel.values.checks import Check
from firesteel.values.event_time import Span
from firesteel.values.record_texts import record_reader, record_text
from firesteel.values.records import Record
from firesteel.values.schemas.conform import in_utc
from firesteel.values.windows import MOST, Window

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SHOWN = 20
"""How many records a verdict carries at most."""


@dataclass
class _Key:
    """What is known of one key, while it is worked on."""

    standing: Standing
    answers: Answers
    late: int = 0
    open: list[tuple[datetime, str]] = field(default_factory=list)
    """Rows whose windows were not all judged yet, with their event time, in order of arrival."""
    after: Span | None = None
    """The last window that was judged."""
    since: datetime | None = None
    """Before there is one: windows that end by this time are never judged."""
    latest: datetime | None = None
    """The latest event time."""
    called: int | None = None
    """Without windows: when the micro-batch of the last call began, in milliseconds."""


@dataclass(frozen=True)
class KeyedRule:
    """A rule that is judged at every instant of each key's trace."""

    rule: Formula
    schema: StructType
    over: Window | None = None
    idle: timedelta | None = None
    names: tuple[str, ...] = ()
    """How the predicates are called where the rule was written."""

    @cached_property
    def _named(self) -> Formula:
        """The rule, its predicates called as they were: a worker may not have the file that a lambda is in."""
        for atom, name in zip(atoms_of(self.rule), self.names, strict=False):
            if atom.name != name:
                object.__setattr__(atom, "given_name", name)  # this is the worker's own copy
        return self.rule

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the rule, its windows or the columns change."""
        about = [fingerprint(self.rule), repr(self.over), repr(self.schema.simpleString())]
        return " ".join(about) if self.over is not None else about[0] + about[2]

    @property
    def noun(self) -> str:
        return "instant" if self.over is None else "window"

    @cached_property
    def _instants(self) -> Instants:
        return Instants(self.schema, self.over is not None)

    def step(self, state: str | None, rows: Sequence[str], now: Now) -> Next:
        """One more call for a key: its new rows, or none where its time has come."""
        key = self._restored(state)
        said: list[Said] = []
        if self.over is None:
            if now.timed_out:
                return Next(None, tuple(self._finished(key)))
            if self._was_idle(key, now):  # Spark hands over new rows instead of the timeout that was due
                said += self._finished(key)
                key = self._restored(None)
            said += self._judge(key, rows, moment(now.clock))
            key.called = now.clock
            return Next(self._kept(key), tuple(said), None if self.idle is None else now.clock + self._patience)
        watermark = moment(now.watermark)
        if self._is_over(key, watermark):
            said += [*self._passed(key, self._end(key)), *self._finished(key)]
            key = self._restored(None)
        said += self._passed(key, watermark)
        said += self._add(key, rows, watermark)
        if not key.open and key.after is None:
            return Next(None, tuple(said))
        return Next(self._kept(key), tuple(said), self._wake(key))

    @property
    def _patience(self) -> int:
        """`idle` in milliseconds."""
        assert self.idle is not None
        return milliseconds(moment(0) + self.idle)

    def _was_idle(self, key: _Key, now: Now) -> bool:
        """By the clock: should the key have been finished before this call?"""
        return self.idle is not None and key.called is not None and now.clock - key.called > self._patience

    # --- instants ---

    def _judge(self, key: _Key, texts: Sequence[str], time: datetime) -> Iterator[Said]:
        standing = key.standing
        instant = self._instants.make(standing.instants, texts, time)
        decided = standing.step(instant)
        key.answers.take(standing.memory)
        for judged in decided:
            if judged.verdict is Verdict.FALSE:
                yield self._false(key, judged, instant)
        key.answers.forget(standing.open, standing.instants)

    def _false(self, key: _Key, judged: Judged, instant: LiveInstant) -> Said:
        memory, seen = key.standing.memory, key.standing.instants
        why = key.answers.why(judged, memory, instant, seen, self.noun)
        odd = [
            record
            for _, answer in memory.answers.values()
            if isinstance(answer, Check) and not answer
            for record in answer.records
            if isinstance(record, Record) and tuple(record.__dict__) == tuple(self.schema.fieldNames())
        ]
        texts = list(dict.fromkeys(map(record_text, odd))) or instant.texts
        return Said("false", judged.at, instant.index, instant.time, why, tuple(texts[:SHOWN]), key.late)

    def _finished(self, key: _Key) -> Iterator[Said]:
        """The key's trace ends: operators without a bound close."""
        for judged in key.standing.finish():
            if judged.verdict is Verdict.FALSE:
                seen = key.standing.instants
                why = key.answers.why(judged, key.standing.memory, None, seen, self.noun, ended=True)
                yield Said("false", judged.at, None, None, why, (), key.late)

    # --- windows ---

    def _passed(self, key: _Key, until: datetime) -> Iterator[Said]:
        """Judge the windows that end by a moment."""
        self._allow(key, until)
        while (span := self._next_span(key)) is not None and span[1] <= until:
            texts = [text for time, text in key.open if span[0] <= time < span[1]]
            yield from self._judge(key, texts, span[0])
            key.after = span
            key.open = [(time, text) for time, text in key.open if not self._is_done(time, span)]

    def _allow(self, key: _Key, until: datetime) -> None:
        """Refuse more windows than a call can judge: a single row with a wrong time may ask for billions."""
        assert self.over is not None
        span = self._next_span(key)
        count = 0 if span is None else self.over.count(span, until)
        if span is not None and count > MOST:
            raise InvalidArgument(
                f"the watermark went on to {until.isoformat(sep=' ')}, and the next window of a key begins at "
                f"{span[0].isoformat(sep=' ')}: these are {count:,} windows of {self.over!r}, and {MOST:,} are the "
                "most. Give idle=, which finishes keys without rows. If a row has a wrong event time, leave it out of "
                "the frame, with .where(...), and begin with a new checkpointLocation"
            )

    def _is_done(self, time: datetime, span: Span) -> bool:
        """Does a record lie in no window after this one?"""
        assert self.over is not None
        return span[0] <= time < span[1] and self.over.last_end(time) <= span[1]

    def _next_span(self, key: _Key) -> Span | None:
        assert self.over is not None
        since = key.since or moment(0)
        return self.over.next_span([time for time, _ in key.open], since=since, after=key.after)

    def _add(self, key: _Key, rows: Sequence[str], watermark: datetime) -> Iterator[Said]:
        """Keep the rows until their windows are judged; those that come too late are counted."""
        assert self.over is not None
        assert isinstance(self.over.on, str)
        read, late = record_reader(self.schema.fieldNames()), []
        for text in rows:
            found = read(text)[self.over.on]
            time = None if found is None else in_utc(found)
            if time is None or self.over.last_end(time) <= watermark:
                late.append(text)
                continue
            key.open.append((time, text))
            key.latest = time if key.latest is None else max(time, key.latest)
        if key.after is None:
            key.since = watermark
        if late:
            key.late += len(late)
            reason = f"{counted(len(late), 'row')} came after the watermark had passed their windows, or had no time"
            yield Said("late", None, None, None, reason, tuple(late[:SHOWN]), key.late)

    def _end(self, key: _Key) -> datetime:
        """When the key is finished, if nothing more comes."""
        assert self.over is not None
        assert key.latest is not None
        assert self.idle is not None
        last_end = self.over.last_end(key.latest)
        return max(last_end, key.latest + self.idle)

    def _is_over(self, key: _Key, watermark: datetime) -> bool:
        return self.idle is not None and key.latest is not None and self._end(key) <= watermark

    def _wake(self, key: _Key) -> int | None:
        span = self._next_span(key)
        moments = [] if span is None else [span[1]]
        if self.idle is not None and key.latest is not None:
            moments.append(self._end(key))
        return milliseconds(min(moments)) - 1 if moments else None

    # --- the state as text ---

    def _restored(self, state: str | None) -> _Key:
        if state is None:
            return _Key(Standing(self._named), Answers(self._named))
        kept = json.loads(state)
        if kept["rule"] != self.fingerprint:
            raise InvalidArgument(
                f"the checkpoint was written by another rule than {self.rule}, or for other windows or columns: begin "
                "with a new checkpointLocation, or give the old rule"
            )
        return _Key(
            Standing.restore(self._named, kept["standing"], self._instants.read),
            Answers(self._named, kept["answers"]),
            kept["late"],
            [(datetime.fromisoformat(time), text) for time, text in kept["open"]],
            None if kept["after"] is None else of_json(kept["after"]),
            of_json(kept["since"]),
            of_json(kept["latest"]),
            kept.get("called"),  # older checkpoints do not have it
        )

    def _kept(self, key: _Key) -> str:
        return json.dumps(
            {
                "rule": self.fingerprint,
                "standing": key.standing.keep(self._instants.write),
                "answers": key.answers.keep(),
                "late": key.late,
                "open": [[time.astimezone(UTC).isoformat(), text] for time, text in key.open],
                "after": to_json(key.after),
                "since": to_json(key.since),
                "latest": to_json(key.latest),
                "called": key.called,
            },
            separators=(",", ":"),
        )
