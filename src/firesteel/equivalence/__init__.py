"""Equivalence: do two streams of records mean the same, up to the order that matters?

The matchers are pure Python. Only `claim` and `frames` run Spark, and they are not imported here.
"""

from firesteel.equivalence.lawful import check_dependence as check_dependence
from firesteel.equivalence.matcher import Counts as Counts
from firesteel.equivalence.matcher import Matcher as Matcher
from firesteel.equivalence.matcher import Mismatch as Mismatch
from firesteel.equivalence.pictures import dot as dot
from firesteel.equivalence.pictures import drawn as drawn
from firesteel.values.dependence import Dependence as Dependence
from firesteel.values.dependence import barrier as barrier
from firesteel.values.dependence import depends as depends
from firesteel.values.dependence import ordered as ordered
from firesteel.values.dependence import same_key as same_key
from firesteel.values.dependence import unordered as unordered
