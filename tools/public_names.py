"""Prints every public name of firesteel with its signature, for tests/public_names.txt.

    python tools/public_names.py > tests/public_names.txt

A test compares the file with the package, so that a public name changes only on purpose.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ForwardRef

MODULES = (
    *("firesteel", "firesteel.strategies", "firesteel.perturb", "firesteel.operators", "firesteel.rules"),
    "firesteel.sinks",
    *("firesteel.logic.pptl", "firesteel.model.msvl"),
)
_OPERATORS = {
    *("__add__", "__and__", "__rand__", "__or__", "__ror__", "__invert__", "__eq__", "__hash__", "__bool__"),
    *("__call__", "__contains__", "__getitem__", "__getattr__", "__iter__", "__len__", "__enter__", "__exit__"),
}


def main() -> None:
    print("\n".join(list(listing())[:-1]))


def listing() -> Iterator[str]:
    """The lines: a module, the names in it, and below a class what a user can ask of it."""
    # All are imported first: a submodule is a name of its package only once it was imported.
    modules = {name: importlib.import_module(name) for name in MODULES}
    for name, module in modules.items():
        yield name
        for public in sorted(public_names(module)):
            yield from described(public, getattr(module, public))
        yield ""


def public_names(module: ModuleType) -> Iterator[str]:
    """What a user may import from a module: what its `__all__` names, or all that is ours and is not a submodule."""
    if hasattr(module, "__all__"):
        yield from module.__all__
        return
    for name, value in vars(module).items():
        if name.startswith("_") or (isinstance(value, ModuleType) and value.__name__ not in MODULES):
            continue
        if _home(value).startswith("firesteel"):
            yield name


def _home(value: Any) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    return getattr(value, "__module__", None) or "firesteel"  # an alias such as a Literal, or a plain value


def described(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _described_class(name, value)
    elif inspect.isroutine(value):
        yield f"  {name}{_signature(value)}"
    elif isinstance(value, ModuleType):
        yield f"  {name}: module"
    else:
        yield f"  {name}: {type(value).__name__}"


def _described_class(name: str, cls: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in cls.__bases__ if base is not object)
    yield f"  class {name}({bases})" if bases else f"  class {name}"
    if issubclass(cls, enum.Enum):
        yield from (f"    {member.name} = {member.value!r}" for member in cls)
    elif "__init__" in vars(cls) and not issubclass(cls, BaseException):
        yield f"    __init__{_signature(cls.__init__)}"
    if special := sorted(_special_methods(cls)):
        yield f"    supports {' '.join(special)}"
    for attribute in sorted(_attributes(cls)):
        yield f"    {_member(attribute, inspect.getattr_static(cls, attribute, None), cls)}"


def _special_methods(cls: type) -> set[str]:
    """The methods behind operators and built-in functions that the class itself, or a base class of ours, defines."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("firesteel")]
    return {
        name for base in ours for name, value in vars(base).items() if name in _OPERATORS and inspect.isfunction(value)
    }


def _attributes(cls: type) -> set[str]:
    """Names that the class itself, or a base class of ours, defines: fields, methods and properties."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("firesteel")]
    named = {name for base in ours for name in (*vars(base), *vars(base).get("__annotations__", {}))}
    members = set(cls.__members__) if issubclass(cls, enum.Enum) else set()
    return {name for name in named if not name.startswith("_")} - members


def _member(name: str, value: Any, cls: type) -> str:
    match value:
        case classmethod() | staticmethod():
            return f"{type(value).__name__} {name}{_signature(value.__func__)}"
        case property():
            return f"{name}: {_plain(inspect.signature(value.fget).return_annotation)}" if value.fget else name
        case _ if inspect.isfunction(value):
            return f"{name}{_signature(value)}"
        case _:
            if inspect.ismemberdescriptor(value):  # a slot, whose type stands nowhere at run time
                return name
            annotations = [vars(base).get("__annotations__", {}).get(name) for base in cls.__mro__]
            return f"{name}: {_plain(next((a for a in annotations if a is not None), type(value)))}"


def _signature(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    parts: list[str] = []
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and not {parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL} & set(
            kinds[:place]
        ):
            parts.append("*")
        parts.append(_parameter(parameter))
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.POSITIONAL_ONLY not in kinds[place + 1 :]:
            parts.append("/")
    returns = "" if signature.return_annotation is signature.empty else f" -> {_plain(signature.return_annotation)}"
    return f"({', '.join(parts)}){returns}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    annotated = "" if parameter.annotation is parameter.empty else f": {_plain(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}{annotated}"
    default = repr(parameter.default)
    shown = "..." if " at 0x" in default else default
    return f"{stars}{parameter.name}{annotated} = {shown}" if annotated else f"{parameter.name}={shown}"


def _plain(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return annotation.__name__ if inspect.isclass(annotation) else str(annotation)


if __name__ == "__main__":
    main()
