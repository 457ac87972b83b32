"""Pairs of streams for monitors of equivalence, and what one `Matcher` for each key says about them."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import firesteel as fs
from firesteel import Record

SCHEMA = "pair INT, kind STRING, n DOUBLE, ts TIMESTAMP"
START = datetime(2030, 1, 1, tzinfo=UTC)


def is_mark(record):
    return record.kind == "mark"


def near(a, b):
    return abs(ord(a.kind[0]) - ord(b.kind[0])) == 1


DEPENDENCES = {
    "same_key": fs.same_key("pair"),
    "two keys": fs.same_key("pair") & fs.same_key("kind"),
    "barrier": fs.same_key("pair") & fs.barrier(is_mark),
    "depends": fs.same_key("pair") & fs.depends(near),
    "key or barrier": fs.same_key("pair") & (fs.same_key("kind") | fs.barrier(is_mark)),
}
ALONE = {
    "ordered": fs.ordered(),
    "barrier": fs.barrier(is_mark),
    "depends": fs.depends(near),
    "key or barrier": fs.same_key("kind") | fs.barrier(is_mark),
    "two keys in turn": fs.same_key("kind") | fs.same_key("n"),
}
"""None of these reduces to columns."""
EQUALITIES = {
    "exact": None,
    "close": fs.equality(abs_tol=0.1),
    "by": fs.equality(by=lambda r: (r.pair, r.kind, r.n is None)),
}


@dataclass(frozen=True)
class Pair:
    """A pair of streams as micro-batches: rows of the left and of the right."""

    batches: tuple  # of (left rows, right rows)


def drawn(draw: random.Random, number: int, batches: int) -> Pair:
    """Two streams that are equal, but for a few rows that are swapped, lost, doubled or changed in some pairs."""
    length = draw.randint(0, 12)
    left = [row(draw, number, at) for at in range(length)]
    right = list(left)
    for _ in range(draw.choice([0, 0, 1, 1, 2, 3])):
        damage(draw, right, number)
    return Pair(tuple(zip(cut(draw, left, batches), cut(draw, right, batches), strict=True)))


def odd_deliveries(first: int) -> dict[str, Pair]:
    """Pairs in which something goes wrong with whole batches, by what it is; they are numbered from `first` on."""
    some = dict.fromkeys(("long", "left alone", "right alone", "right stops", "twice", "late"))
    for number, name in enumerate(some, first):
        length = 600 if name == "long" else 12
        kinds = ["mark" if at % 20 == 19 else "abc"[at % 3] for at in range(length)]
        rows = [
            Record(pair=number, kind=kind, n=float(at), ts=START + timedelta(seconds=at % 60))
            for at, kind in enumerate(kinds)
        ]
        a, b, c, d = (rows[at * length // 4 : (at + 1) * length // 4] for at in range(4))
        sides = {
            "long": ([a, b, c, d], [a, b, c, d[:50] + d[51:]]),  # much longer than the others, and a row is lost
            "left alone": ([a, b, c, d], [[], [], [], []]),
            "right alone": ([[], [], [], []], [a, b, c, d]),
            "right stops": ([a, b, c, d], [a, b, [], []]),
            "twice": ([a, b, c, d], [a, b, b + c, d]),
            "late": ([a, b, c, d], [[], b, c, d + a]),
        }[name]
        some[name] = Pair(tuple(zip(*sides, strict=True)))
    return some


def row(draw, number, at):
    kind = draw.choice(["a", "b", "c", "a", "b", "mark"])
    n = draw.choice([0.0, 1.0, float("nan"), None, -0.0])
    return Record(pair=number, kind=kind, n=n, ts=START + timedelta(seconds=at))


def damage(draw, rows, number):
    if not rows:
        return
    at = draw.randrange(len(rows))
    match draw.randrange(5):
        case 0:
            other = min(at + 1, len(rows) - 1)
            rows[at], rows[other] = rows[other], rows[at]
        case 1:
            rows.insert(at, rows[at])
        case 2:
            del rows[at]
        case 3:
            rows[at] = row(draw, number, at)
        case 4:
            changed = None if rows[at].n is None else rows[at].n + 0.05
            rows[at] = Record(pair=number, kind=rows[at].kind, n=changed, ts=rows[at].ts)


def cut(draw, rows, batches):
    """The rows in micro-batches: in order, the ends drawn."""
    ends = sorted(draw.randint(0, len(rows)) for _ in range(batches - 1))
    return [rows[first:last] for first, last in zip([0, *ends], [*ends, len(rows)], strict=True)]


@dataclass(frozen=True)
class Expected:
    """What one matcher says about one key: the first difference, and what waits at the end."""

    difference: object  # (side, batch, record, record of the other side) or None
    waiting: tuple
    matched: int = field(default=0, compare=False)


def expected(pair: Pair, dependence, equal) -> dict:
    """By key: a matcher for each, fed with the left rows of every batch before the right ones."""
    found = {}
    for key in dict.fromkeys(key_of(dependence, r) for both in pair.batches for side in both for r in side):
        matcher = fs.Matcher(dependence, equal=equal)
        difference = None
        for number, (left, right) in enumerate(pair.batches):
            for side, rows in ((matcher.left, left), (matcher.right, right)):
                for record in rows:
                    if key_of(dependence, record) == key and matcher.verdict is fs.Verdict.INCONCLUSIVE:
                        side(record)
            if difference is None and matcher.verdict is fs.Verdict.FALSE:
                mismatch = matcher.mismatch
                difference = (mismatch.side, number, mismatch.record, mismatch.blocked_by[1])
        left, right = ((), ()) if difference else matcher.unmatched
        found[key] = Expected(difference, (tuple(left), tuple(right)), matcher.counts.matched)
    return found


def key_of(dependence, record):
    from firesteel.equivalence.index import confined_to

    return tuple(record[column] for column in confined_to(dependence))
