"""Helpers for py4j: Scala's collections, private fields, settings, and Java classes compiled while Spark runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext


def items(seq: Any) -> list[Any]:
    """The elements of a Scala Seq."""
    return [seq.apply(index) for index in range(seq.size())]


class Scala:
    """Makes Scala's collections, in the JVM behind a gateway."""

    def __init__(self, gateway: Any) -> None:
        self._to_seq = java_class(gateway, "org.apache.spark.api.python.PythonUtils").toSeq
        self._some = java_class(gateway, "scala.Option").apply
        self.none = java_class(gateway, "scala.Option").empty()

    def seq(self, elements: Iterable[Any]) -> Any:
        return self._to_seq(list(elements))

    def some(self, value: Any) -> Any:
        return self._some(value)


class Package:
    """The classes of one package, as attributes.

    `jvm.org.apache.spark` does the same, but asks the JVM about every part of the name, every time; and it takes a name
    that it does not know for a package, which is truthy as well.
    """

    def __init__(self, gateway: Any, name: str) -> None:
        self._gateway, self._name = gateway, name

    def __getattr__(self, name: str) -> Any:
        return java_class(self._gateway, f"{self._name}.{name}")


def java_class(gateway: Any, name: str) -> Any:
    """A class, to call its constructor or its static methods. Nothing is looked up before that."""
    from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]

    return JavaClass(name, gateway._gateway_client)


def first_class(gateway: Any, *names: str) -> Any:
    """The first of several classes that there is: Spark moves some from version to version."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    for name in names:
        try:
            class_named(gateway.jvm, name)
        except Py4JJavaError:
            continue
        return java_class(gateway, name)
    raise LookupError(f"this version of Spark has none of {', '.join(names)}")


def array(gateway: Any, kind: Any, *elements: Any) -> Any:
    """A Java array."""
    made = gateway.new_array(kind, len(elements))
    for index, element in enumerate(elements):
        made[index] = element
    return made


def class_named(jvm: Any, name: str) -> Any:
    """The `java.lang.Class` of a name; py4j raises where there is none."""
    return jvm.java.lang.Class.forName(name)


def field_of(thing: Any, name: str) -> Any:
    """A private field of a JVM object, declared by its class or by one above it; LookupError where there is none."""
    from py4j.protocol import Py4JJavaError

    found = thing.getClass()
    while found is not None:
        try:
            field = found.getDeclaredField(name)
        except Py4JJavaError:
            found = found.getSuperclass()
        else:
            field.setAccessible(True)
            return field
    raise LookupError(f"no {name} in {thing.getClass().getName()}")


def field_in(kind: Any, name: str) -> Any:
    """A private field that a `java.lang.Class` declares itself; py4j raises where it declares none of that name."""
    field = kind.getDeclaredField(name)
    field.setAccessible(True)
    return field


def compiled(jvm: Any, source: str, name: str, parent: Any) -> Any:
    """The class of Java source, in a class loader below `parent`.

    Janino compiles it, which Spark brings along for its own generated code. It knows no lambdas and ignores generics.
    """
    return _compiler(jvm, source, parent).getClassLoader().loadClass(name)


def bytecode(jvm: Any, source: str, name: str, parent: Any) -> Any:
    """The same as bytes, for a class that has to live in a class loader of Spark's own."""
    return _compiler(jvm, source, parent).getBytecodes()[name]


def _compiler(jvm: Any, source: str, parent: Any) -> Any:
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(source)
    return compiler


def new(gateway: Any, kind: Any, *arguments: Any) -> Any:
    """An object of a `java.lang.Class` with one constructor."""
    return kind.getConstructors()[0].newInstance(array(gateway, gateway.jvm.Object, *arguments))


@contextmanager
def changed_conf(spark: SparkContext, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of the running SparkContext, changed for a while; Spark has no public way to do that."""
    java: Any = spark._jsc
    conf = java.sc().conf()
    before = {name: conf.get(name) if conf.contains(name) else None for name in settings}
    for name, value in settings.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                conf.remove(name)
            else:
                conf.set(name, old)
