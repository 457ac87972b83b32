"""How an operator is sent to a worker: as Spark sends functions, but without importing Spark.

Importing PySpark takes most of a second, here and in every worker. Spark's cloudpickle needs the standard library only.
So its file is loaded by itself, under a name that both sides know.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any

from firesteel.operators.execute import Loaded
from firesteel.operators.kinds import inner_function

_NAME = "firesteel.operators._cloudpickle_of_spark"


class CannotLoad(Exception):
    """The operator cannot be sent to a worker, or not loaded there."""

    @property
    def is_of_import(self) -> bool:
        """Could the worker not import a module that this process has?"""
        return str(self).startswith("ModuleNotFoundError")


@cache
def cloudpickle() -> Any:
    """Spark's cloudpickle. What it pickles can be loaded where this was called before."""
    spark = find_spec("pyspark")
    for place in () if spark is None else spark.submodule_search_locations or ():
        spec = spec_from_file_location(_NAME, os.path.join(place, "cloudpickle", "cloudpickle.py"))
        if spec is not None and spec.loader is not None and os.path.exists(str(spec.origin)):
            module = sys.modules[_NAME] = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    from pyspark import cloudpickle  # where Spark keeps it elsewhere

    return cloudpickle


def pickled(loaded: Loaded, *, by_value: bool = False) -> bytes:
    """The operator as Spark would send it; or with its functions' modules in it, which a worker cannot import."""
    pickling = cloudpickle()
    names = {getattr(inner_function(each), "__module__", None) for each in loaded.operator.functions if by_value}
    spark = sys.modules.get("pyspark.cloudpickle.cloudpickle")
    if spark is not None:  # modules that the user wants to be sent by value
        names |= spark.list_registry_pickle_by_value()
    modules = [sys.modules[name] for name in names if name in sys.modules]
    for module in modules:
        pickling.register_pickle_by_value(module)
    try:
        blob: bytes = pickling.dumps(loaded)
    except Exception as error:
        raise CannotLoad(f"{type(error).__name__}: {error}") from error
    finally:
        for module in modules:
            pickling.unregister_pickle_by_value(module)
    return blob
