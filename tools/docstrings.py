"""Prepares docstrings for the reference pages: an extension of griffe, which reads them for the documentation site.

Docstrings are written for `help()` and for doctest. In Markdown `>>>` would be a quotation, so examples become blocks
of code here. A name such as `fs.for_all` becomes a link to where it is described.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

MODULES = {
    "fs": "firesteel",
    "ss": "firesteel.strategies",
    "perturb": "firesteel.perturb",
    "operators": "firesteel.operators",
    "pptl": "firesteel.logic.pptl",
}
"""How docstrings abbreviate the modules whose names they mention."""

_NAME = re.compile(r"(?<!\[)`(fs|ss|perturb|operators|pptl)\.(\w+)(\([^`]*\))?`")
_FLAGS = re.compile(r"\s*# doctest: .*$")


class Docstrings(griffe.Extension):
    """Rewrites every docstring of the package."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        if obj.docstring is not None:
            public = {short: _paths(loader, module) for short, module in MODULES.items()}
            obj.docstring.value = as_markdown(obj.docstring.value, public)


def as_markdown(docstring: str, public: dict[str, dict[str, str]]) -> str:
    """A docstring with its examples as blocks of code, and links to public names, whose paths are given.

    >>> print(as_markdown("Adds. See `fs.run`.\\n\\n>>> 1 + 1\\n2", {"fs": {"run": "firesteel.run"}}))
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


def _linked(found: re.Match[str], public: dict[str, dict[str, str]]) -> str:
    path = public.get(found[1], {}).get(found[2])
    return found[0] if path is None else f"[{found[0]}][{path}]"


def _paths(loader: griffe.GriffeLoader, module: str) -> dict[str, str]:
    """The public names of a module, if it has been read already, and where each is described."""
    try:
        members = loader.modules_collection[module].members
    except KeyError:
        return {}
    # A module inside hides what is imported from it under the same name: `ss.records` is strategies.records.records.
    return {
        name: f"{module}.{name}.{name}" if member.kind is griffe.Kind.MODULE else f"{module}.{name}"
        for name, member in members.items()
        if not name.startswith("_") and (member.kind is not griffe.Kind.MODULE or name in member.members)
    }
