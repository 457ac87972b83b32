"""Functions of a record, continued: keys, hard values, side effects, pickles."""

from __future__ import annotations

import math
import os
import tempfile
import threading
from typing import Any

from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()
f = operators.function

# --- partition_isolated, of the key user ---
_by_user: dict[Any, Any] = {}
_all: dict[str, Any] = {
    "count": 0,
    "total": 0,
    "max": -(10**18),
    "last": None,
    "numbers": [],
    "seen": set(),
    "users": {},
}


def count_all(user: str, n: int) -> int:
    _all["count"] += 1
    return _all["count"]  # type: ignore[no-any-return]


def total_all(user: str, n: int) -> int:
    _all["total"] += n
    return _all["total"]  # type: ignore[no-any-return]


def max_all(user: str, n: int) -> int:
    _all["max"] = max(_all["max"], n)
    return _all["max"]  # type: ignore[no-any-return]


def last_all(user: str, n: int) -> Any:
    before, _all["last"] = _all["last"], n
    return before


def dedup_all(user: str, n: int) -> int | None:
    if n in _all["seen"]:
        return None
    _all["seen"].add(n)
    return n


def users_so_far(user: str, n: int) -> int:
    _all["users"][user] = True
    return len(_all["users"])


def every_second(user: str, n: int) -> int | None:
    _all["count"] += 1
    return n if _all["count"] % 2 else None


def count_user(user: str, n: int) -> int:
    _by_user[user] = _by_user.get(user, 0) + 1
    return _by_user[user]  # type: ignore[no-any-return]


def total_user(user: str, n: int) -> int:
    _by_user[user, "total"] = _by_user.get((user, "total"), 0) + n
    return _by_user[user, "total"]  # type: ignore[no-any-return]


def max_user(user: str, n: int) -> int:
    _by_user[user, "max"] = max(n, _by_user.get((user, "max"), n))
    return _by_user[user, "max"]  # type: ignore[no-any-return]


def last_user(user: str, n: int) -> Any:
    before = _by_user.get((user, "last"))
    _by_user[user, "last"] = n
    return before


def dedup_user(user: str, n: int) -> int | None:
    if (user, n) in _by_user:
        return None
    _by_user[user, n] = True
    return n


def greeting(user: str, n: int) -> str:
    return user * min(abs(n), 3)


def count_hidden(user: str, n: int) -> int:
    _all["count"] += 1
    return n


for _each in (count_all, total_all, max_all, last_all, dedup_all, users_so_far, every_second):
    ZOO.add(f(_each, key="user"), "keeps one thing for all users together", no="partition_isolated stateless")
for _each in (count_user, total_user, max_user, last_user, dedup_user):
    ZOO.add(f(_each, key="user"), "keeps a thing for each user", no="stateless", yes="partition_isolated deterministic")
ZOO.add(f(greeting, key="user"), "keeps nothing", yes="partition_isolated stateless total")
ZOO.add(
    f(count_hidden, key="user"), "counts all users, and the count does not show", yes="partition_isolated stateless"
)

# --- idempotent, null_safe, nan_safe, total, pure ---
ZOO.add(f(lambda x: x + 1), "one more each time", no="idempotent null_safe", yes="pure deterministic", name="plus one")
ZOO.add(f(lambda s: s + "!", input="s STRING"), "one more sign each time", no="idempotent null_safe", name="exclaims")
ZOO.add(f(lambda x: -x), "the sign changes each time", no="idempotent null_safe", name="negates")
ZOO.add(f(lambda x: 2 * x), "twice as much each time", no="idempotent null_safe", name="doubles")
ZOO.add(f(lambda x: x // 2), "halved again, but for 0 and -1", no="idempotent null_safe", name="halves")
ZOO.add(f(abs), "a sign taken away is gone", yes="idempotent")
ZOO.add(
    f(lambda s: s.strip(), input="s STRING"),
    "what is stripped has nothing to strip",
    no="null_safe",
    yes="idempotent total",
    name="strips",
)
ZOO.add(f(lambda x: max(0, x)), "clipped once, clipped for ever", yes="idempotent", name="clips")
ZOO.add(
    f(lambda s: (s or "").upper(), input="s STRING"),
    "None becomes empty",
    yes="null_safe total idempotent",
    name="upper or empty",
)
ZOO.add(f(lambda x: repr(x)), "everything has a repr", yes="null_safe", name="repr")
ZOO.add(f(lambda x: x is None), "asks for None", yes="null_safe", name="is None")
ZOO.add(f(lambda x: bool(x)), "None is false", yes="null_safe", name="bool")


def rounds(x: float) -> int:
    return round(x)


def to_int(x: float) -> int:
    return int(x)


def floors(x: float) -> int:
    return math.floor(x)


def ratio(x: float) -> Any:
    return x.as_integer_ratio()


def doubles(x: float) -> float:
    return x * 2


def is_nan(x: float) -> bool:
    return math.isnan(x)


def magnitude(x: float) -> float:
    return abs(x)


def as_text(x: float) -> str:
    return f"{x:.2f}"


for _number in (rounds, to_int, floors, ratio):
    ZOO.add(f(_number), "a NaN has no whole number", no="nan_safe total")
for _number in (doubles, is_nan, magnitude, as_text):
    ZOO.add(f(_number), "takes every float", yes="nan_safe total")


def share(n: int) -> float:
    return 1 / n


def first_letter(s: str) -> str:
    return s[0]


def parsed(s: str) -> int:
    return int(s)


def rare_error(n: int) -> int:
    if n == 48_611:
        raise ValueError("never heard of it")
    return n


def safe_share(n: int) -> float:
    return 1 / n if n else 0.0


def first_letters(s: str) -> str:
    return s[:1]


ZOO.add(f(share), "0 has no share", no="total")
ZOO.add(f(first_letter), "an empty text has no first letter", no="total")
ZOO.add(f(parsed), "most texts are not numbers", no="total")
ZOO.add(f(rare_error), "raises for one number", no="total")
ZOO.add(f(safe_share), "0 is taken care of", yes="total pure")
ZOO.add(f(first_letters), "a slice of an empty text is empty", yes="total pure idempotent")


def appends(xs: list[int]) -> list[int]:
    xs.append(1)
    return xs


def sorts(xs: list[int]) -> list[int]:
    xs.sort()
    return xs


def writes_a_file(x: int) -> int:
    with open(os.path.join(tempfile.gettempdir(), "firesteel-zoo.txt"), "w") as file:
        file.write(str(x))
    os.unlink(file.name)
    return x


def copies_first(xs: list[int]) -> list[int]:
    ys = list(xs)
    ys.append(1)
    return ys


def prints(x: int) -> int:
    print("hello", x)
    return x


ZOO.add(f(appends), "changes its argument", no="pure idempotent", yes="stateless deterministic total")
ZOO.add(f(sorts), "sorts its argument in place", no="pure", yes="idempotent stateless total")
ZOO.add(f(writes_a_file), "opens a file", no="pure", yes="deterministic stateless")
ZOO.add(f(copies_first), "changes a copy", yes="pure stateless")
ZOO.add(f(prints), "prints, which is no file", yes="pure stateless")

# --- picklable ---


class Forgets:
    """Loses its setting on the way."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __reduce__(self) -> Any:
        return (Forgets, (1,))

    def __call__(self, x: int) -> int:
        return self.by * x


class Holds:
    """Holds something that stays in its process."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __call__(self, x: int) -> int:
        return x


ZOO.add(f(Forgets(3)), "its setting is lost in the pickle", no="picklable", name="object that forgets")
for _name, _held in (
    ("lock", threading.Lock()),
    ("generator", (n for n in range(3))),
    ("thread local", threading.local()),
    ("event", threading.Event()),
    ("open pipe", os.popen("true")),
):
    ZOO.add(f(Holds(_held)), "what it holds cannot be pickled", no="picklable", name=f"object with a {_name}")
