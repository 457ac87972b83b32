"""Helpers for py4j, each on a real JVM."""

import pytest
from py4j.protocol import Py4JError

from firesteel.spark.jvm import (
    Package,
    Scala,
    bytecode,
    class_named,
    compiled,
    field_of,
    first_class,
    items,
    java_class,
    new,
)

SOURCE = """
package firesteel.test;
public class Pair {
    private final Object left; private final Object right;
    public Pair(Object left, Object right) { this.left = left; this.right = right; }
    public String both() { return left + " and " + right; }
}
"""


@pytest.fixture
def gateway(spark):
    return spark.sparkContext._gateway


def test_sequences_and_options(gateway):
    scala = Scala(gateway)
    assert items(scala.seq(["a", 1, None])) == ["a", 1, None]
    assert items(scala.seq([])) == []
    assert scala.some(3).get() == 3 and scala.none.isEmpty()


def test_classes_of_a_package(gateway):
    lang = Package(gateway, "java.lang")
    assert lang.Integer.parseInt("12") == 12
    assert lang.StringBuilder("ab").append("c").toString() == "abc"
    with pytest.raises(Py4JError):
        lang.NoSuchClass()


def test_a_class_that_has_moved(gateway):
    assert first_class(gateway, "java.lang.Nowhere", "java.lang.Integer", "java.lang.Long").parseInt("7") == 7
    with pytest.raises(LookupError, match=r"none of java\.lang\.Nowhere, nor\.There"):
        first_class(gateway, "java.lang.Nowhere", "nor.There")


def test_private_fields_of_a_class_and_of_those_above_it(gateway):
    thing = java_class(gateway, "java.util.LinkedHashMap")()
    assert field_of(thing, "accessOrder").getName() == "accessOrder"
    assert field_of(thing, "loadFactor").getDeclaringClass().getName() == "java.util.HashMap"
    with pytest.raises(LookupError, match=r"no nothing in java\.util\.LinkedHashMap"):
        field_of(thing, "nothing")


def test_java_is_compiled(gateway):
    jvm = gateway.jvm
    loader = class_named(jvm, "org.apache.spark.SparkContext").getClassLoader()
    pair = compiled(jvm, SOURCE, "firesteel.test.Pair", loader)
    assert new(gateway, pair, "one", 2).both() == "one and 2"
    assert bytes(bytecode(jvm, SOURCE, "firesteel.test.Pair", loader))[:4] == b"\xca\xfe\xba\xbe"
    with pytest.raises(Py4JError):
        compiled(jvm, "this is not Java", "firesteel.test.Pair", loader)
