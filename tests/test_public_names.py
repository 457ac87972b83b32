"""Public names and signatures change only on purpose: tests/public_names.txt lists them, and this compares."""

import difflib
from pathlib import Path

from tools import public_names

LISTED = Path(__file__).parent / "public_names.txt"


def test_public_names_and_signatures_are_those_listed():
    listed, found = LISTED.read_text().splitlines(), list(public_names.listing())[:-1]
    changes = "\n".join(difflib.unified_diff(listed, found, "listed", "found", lineterm="", n=0))
    assert not changes, f"{changes}\nIf this is meant: python tools/public_names.py > tests/public_names.txt"


def test_a_changed_signature_shows():
    def before(stream, *, cases=None): ...

    def after(stream, *, cases=10): ...

    assert list(public_names.described("f", before)) == ["  f(stream, *, cases=None)"]
    assert list(public_names.described("f", after)) == ["  f(stream, *, cases=10)"]
