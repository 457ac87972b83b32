"""Data as one line of text that a user may copy and paste: JSON with a tag and a version.

A short line is readable; a longer one is compressed. Reading a line makes plain values and calls nothing.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

TAG = "fs1:"
LONGEST = 64 * 2**20
"""How many characters of JSON a line may stand for; the limit also holds for what a compressed line becomes."""
# Lines of at most this many characters of JSON are not compressed, so that people can read them.
_READABLE = 240


def written(data: Any) -> str:
    """Data that `json.dumps` takes, as a line; `ValueError` where it is too large.

    >>> written({"n": [1, 2]})
    'fs1:{"n":[1,2]}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    if len(text) > LONGEST:
        raise ValueError(f"it is too large, with {len(text):,} characters of JSON")
    if len(text) <= _READABLE:
        return TAG + text
    return TAG + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def read(line: str) -> Any:
    """The data of a line; `ValueError` where it is not one.

    >>> read(written(list(range(1000)))) == list(range(1000))
    True
    """
    if not line.startswith(TAG):
        raise ValueError(f"the line does not begin with {TAG}")
    return json.loads(_unpacked(line.removeprefix(TAG)))


def _unpacked(text: str) -> str:
    if len(text) > 2 * LONGEST:
        raise ValueError("the line is too long")
    if text.startswith(("{", "[")):
        return text
    packed = base64.b64decode("".join(text.split()), altchars=b"-_", validate=True)
    reader = zlib.decompressobj()
    data = reader.decompress(packed, LONGEST)
    if not reader.eof:
        raise ValueError("the line is cut, or stands for too much")
    return data.decode()
