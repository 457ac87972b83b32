"""Column functions, functions of batches, groups and grouped aggregates."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()
INTS = "n BIGINT"
USERS = "user STRING, n BIGINT"


def column(function: Any, why: str, *, input: str = INTS, key: str | None = None, **options: Any) -> None:
    ZOO.add(operators.pandas_udf(function, input=input, key=key), why, **options)


_calls: list[int] = []


def numbered(n: Any) -> Any:
    _calls.append(1)
    return n * 0 + len(_calls)


column(
    lambda n: n - int(n.sum()),
    "the sum is that of a batch",
    no="row_wise stateless",
    yes="deterministic",
    name="minus the sum",
)
column(
    lambda n: n.rank(),
    "the place among the others",
    no="row_wise stateless",
    yes="deterministic commutative",
    name="rank",
)
column(lambda n: n.shift(), "the row before", no="row_wise stateless commutative", name="shift")
column(lambda n: n.cumsum(), "adds up the rows before", no="row_wise stateless commutative", name="cumsum")
column(lambda n: n + n.index, "the place in the batch", no="row_wise stateless", name="index")
column(
    lambda n: n.astype(str),
    "a null in another row makes floats of whole numbers",
    no="row_wise",
    name="dtype",
    yes="null_safe",
)
column(
    lambda n: n == n.max(), "the greatest of a batch", no="row_wise stateless", yes="commutative", name="is greatest"
)
column(
    lambda n: n.duplicated(),
    "has another row come before with the same value?",
    no="row_wise stateless",
    yes="commutative",
    name="duplicated",
)
column(numbered, "counts the calls, one for each batch", no="stateless row_wise", name="numbered")
column(lambda n: n * 2, "row by row", yes="row_wise stateless commutative deterministic null_safe", name="doubles")
column(lambda n: n.clip(0, 10), "row by row", yes="row_wise stateless null_safe", name="clips")
column(lambda n: n.where(n > 0, 0), "row by row", yes="row_wise stateless", name="positive")
column(lambda n: n % 97 == 13, "row by row", yes="row_wise stateless", name="remainder")
column(lambda s: s.str.upper(), "row by row", input="s STRING", yes="row_wise stateless null_safe", name="upper")
column(
    lambda s: s.str.len().fillna(0), "row by row", input="s STRING", yes="row_wise stateless null_safe", name="lengths"
)
column(lambda x: x.abs(), "row by row", input="x DOUBLE", yes="row_wise nan_safe null_safe total", name="magnitudes")
column(
    lambda x: x.round().astype(int),
    "NaN has no whole number",
    input="x DOUBLE",
    no="nan_safe null_safe",
    yes="stateless",
    name="whole numbers",
)
ZOO.add(
    operators.arrow_udf(lambda n: pc.multiply(n, 2), input="n INT"),
    "row by row",
    yes="row_wise stateless",
    name="arrow doubles",
)
ZOO.add(
    operators.arrow_udf(lambda n: pc.subtract(n, pc.max(n)), input="n INT"),
    "the greatest is that of a batch",
    no="row_wise stateless",
    name="arrow minus the greatest",
)

# --- of a key ---
column(
    lambda user, n: n - n.min(),
    "the least of all users",
    input=USERS,
    key="user",
    no="partition_isolated",
    name="minus the least",
)
column(
    lambda user, n: n.cumsum(),
    "adds up all users",
    input=USERS,
    key="user",
    no="partition_isolated",
    name="cumsum of all",
)
column(
    lambda user, n: n.rank(),
    "the place among all users",
    input=USERS,
    key="user",
    no="partition_isolated",
    name="rank of all",
)
column(
    lambda user, n: n.shift().fillna(0),
    "the row before, whose ever it is",
    input=USERS,
    key="user",
    no="partition_isolated",
    name="shift of all",
)
column(
    lambda user, n: n * 0 + user.nunique(),
    "how many users there are",
    input=USERS,
    key="user",
    no="partition_isolated",
    name="number of users",
)
column(
    lambda user, n: n.groupby(user).transform("sum"),
    "the sum of the user's own rows",
    input=USERS,
    key="user",
    no="row_wise",
    yes="partition_isolated",
    name="sum by user",
)
column(
    lambda user, n: n.groupby(user).cumsum(),
    "adds up the user's own rows",
    input=USERS,
    key="user",
    no="row_wise",
    yes="partition_isolated",
    name="cumsum by user",
)
column(
    lambda user, n: n.groupby(user).shift().fillna(0),
    "the user's row before",
    input=USERS,
    key="user",
    no="row_wise",
    yes="partition_isolated",
    name="shift by user",
)
column(
    lambda user, n: n.groupby(user).transform("max"),
    "the user's greatest",
    input=USERS,
    key="user",
    no="row_wise",
    yes="partition_isolated",
    name="max by user",
)
column(
    lambda user, n: n + 1,
    "row by row",
    input=USERS,
    key="user",
    yes="partition_isolated row_wise",
    name="plus one with a user",
)

# --- functions of batches ---


def batches(function: Any, why: str, *, input: str = USERS, **options: Any) -> None:
    ZOO.add(operators.map_in_pandas(function, input=input), why, **options)


def each(change: Any) -> Any:
    return lambda frames: (change(frame) for frame in frames)


def counted_at_end(frames: Any) -> Any:
    import pandas as pd

    yield pd.DataFrame({"rows": [sum(len(frame) for frame in frames)]})


def only_first_batch(frames: Any) -> Any:
    yield next(iter(frames))


def counted(frame: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"rows": [len(frame)]})


batches(each(counted), "the size of each batch", no="batch_independent stateless", name="size of batches")
batches(
    each(lambda frame: frame.head(1)),
    "the first of each batch",
    no="batch_independent stateless",
    name="first of batches",
)
batches(
    each(lambda frame: frame.drop_duplicates()),
    "duplicates of one batch only",
    no="batch_independent stateless",
    name="distinct in batches",
)
batches(
    each(lambda frame: frame.assign(n=frame.n - frame.n.min())),
    "the least of each batch",
    no="batch_independent stateless",
    name="minus the least of batches",
)
batches(
    each(lambda frame: frame.assign(place=frame.index)),
    "the place in the batch",
    no="batch_independent stateless",
    yes="keeps_columns one_to_one",
    name="place in batches",
)
batches(only_first_batch, "ignores all batches but the first", no="batch_independent", yes="keeps_columns")
batches(counted_at_end, "all rows are counted, whatever the batches", no="stateless", yes="batch_independent")
batches(
    each(lambda frame: frame[frame.n > 0]),
    "row by row",
    no="one_to_one",
    yes="batch_independent stateless keeps_columns null_safe",
    name="filtered batches",
)
batches(
    each(lambda frame: frame.assign(twice=2 * frame.n)),
    "row by row",
    yes="batch_independent stateless keeps_columns one_to_one",
    name="one more column",
)
batches(
    each(lambda frame: frame[["n"]]),
    "a column less",
    yes="batch_independent keeps_columns stateless one_to_one",
    name="one column less",
)
batches(
    each(lambda frame: frame.sort_values("n")),
    "another order is no other output",
    yes="batch_independent stateless keeps_columns",
    name="sorted batches",
)
batches(
    each(lambda frame: frame.assign(n=0)),
    "n is not kept",
    no="keeps_columns",
    yes="batch_independent stateless",
    name="zeroed",
)
batches(
    each(lambda frame: frame.assign(n=frame.n + 1)),
    "n is not kept",
    no="keeps_columns",
    yes="batch_independent",
    name="plus one",
)
batches(
    each(lambda frame: frame.assign(user=frame.user + "!")), "user is not kept", no="keeps_columns", name="exclaimed"
)
batches(
    each(lambda frame: frame.assign(n=frame.n.clip(0, 10))),
    "n is kept between 0 and 10 only",
    no="keeps_columns",
    name="clipped",
)
batches(
    each(lambda frame: frame.assign(n=frame.n.where(frame.n != 48_611, 0))),
    "one rare n is not kept",
    no="keeps_columns",
    name="rarely changed",
)
ZOO.add(
    operators.map_in_arrow(lambda frames: (frame.slice(0, 1) for frame in frames), input="n INT"),
    "the first of each batch",
    no="batch_independent",
    yes="keeps_columns",
    name="arrow first",
)
ZOO.add(
    operators.map_in_arrow(lambda frames: frames, input="n INT"),
    "as it is",
    yes="batch_independent keeps_columns stateless one_to_one",
    name="arrow identity",
)

# --- groups ---


def groups(function: Any, why: str, **options: Any) -> None:
    ZOO.add(operators.grouped_map(function, key="user", input=USERS), why, **options)


_groups: list[int] = []


def numbered_group(frame: Any) -> Any:
    _groups.append(1)
    return frame.head(1).assign(n=len(_groups))


def with_key(key: Any, frame: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"user": [key[0]], "rows": [len(frame)]})


groups(
    lambda frame: frame.head(1),
    "the row that comes first",
    no="commutative",
    yes="one_to_one stateless keeps_columns deterministic",
    name="first of a group",
)
groups(
    lambda frame: frame.head(2),
    "the two rows that come first",
    no="commutative one_to_one",
    name="first two of a group",
)
groups(
    lambda frame: frame.assign(n=frame.n.cumsum()),
    "adds up in the order of rows",
    no="commutative one_to_one",
    name="cumsum of a group",
)
groups(
    lambda frame: frame.sort_values("n").head(1),
    "the least n",
    yes="commutative one_to_one stateless",
    name="least of a group",
)
groups(
    lambda frame: frame.groupby("user", as_index=False).n.sum(),
    "a sum of whole numbers",
    yes="commutative one_to_one partition_isolated",
    name="sum of a group",
)
groups(numbered_group, "counts the groups of its process", no="stateless partition_isolated")
groups(with_key, "the number of rows", yes="commutative stateless partition_isolated one_to_one null_safe")
groups(
    lambda frame: frame.assign(n=-frame.n),
    "n is not kept",
    no="keeps_columns",
    yes="stateless commutative",
    name="negated group",
)

# --- grouped aggregates ---
ZOO.add(
    operators.grouped_agg(lambda n: int(n.iloc[0]), input=INTS),
    "the row that comes first",
    no="commutative",
    yes="stateless deterministic",
    name="first value",
)
ZOO.add(
    operators.grouped_agg(lambda n: int((n * (n.index + 1)).sum()), input="n INT"),
    "weighed by place",
    no="commutative",
    name="weighed by place",
)
ZOO.add(
    operators.grouped_agg(lambda n: int(n.max()), input=INTS),
    "the greatest",
    yes="commutative stateless",
    name="greatest",
)
ZOO.add(
    operators.grouped_agg(lambda n: int(n.nunique()), input=INTS),
    "how many different ones",
    yes="commutative stateless null_safe",
    name="different values",
)
