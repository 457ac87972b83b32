"""Prepares docstrings for the reference pages: an extension of griffe, which reads them for the documentation site.

Docstrings are written for `help()` and for doctest. In Markdown `>>>` would be a quotation, so examples become blocks
of code here. A name such as `fs.for_all` becomes a link to where it is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import griffe

MODULES = {"fs": "firesteel", "ss": "firesteel.strategies", "perturb": "firesteel.perturb"}
"""How docstrings abbreviate the modules whose names they mention."""

_NAME = re.compile(r"(?<!\[)`(fs|ss|perturb)\.(\w+)(\([^`]*\))?`")
_FLAGS = re.compile(r"\s*# doctest: .*$")


class Docstrings(griffe.Extension):
    """Rewrites every docstring of the package."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        if obj.docstring is not None:
            public = {short: set(_members(loader, module)) for short, module in MODULES.items()}
            obj.docstring.value = as_markdown(obj.docstring.value, public)


def as_markdown(docstring: str, public: dict[str, set[str]]) -> str:
    """A docstring with its examples as blocks of code, and links to public names.

    >>> print(as_markdown("Adds. See `fs.run`.\\n\\n>>> 1 + 1\\n2", {"fs": {"run"}}))
    Adds. See [`fs.run`][firesteel.run].
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    made: list[str] = []
    inside = False
    for line in docstring.splitlines():
        if line.startswith(">>>") and not inside:
            inside = True
            made.append("```pycon")
        elif inside and not line.strip():
            inside = False
            made.append("```")
        if inside:
            made.append(_FLAGS.sub("", line).replace("<BLANKLINE>", ""))
        else:
            made.append(_NAME.sub(lambda found: _linked(found, public), line))
    return "\n".join([*made, "```"] if inside else made)


def _linked(found: re.Match[str], public: dict[str, set[str]]) -> str:
    module, name = found[1], found[2]
    return f"[{found[0]}][{MODULES[module]}.{name}]" if name in public.get(module, ()) else found[0]


def _members(loader: griffe.GriffeLoader, module: str) -> Iterable[str]:
    """The public names of a module, if it has been read already."""
    try:
        return [name for name in loader.modules_collection[module].members if not name.startswith("_")]
    except KeyError:
        return []
