"""How the records that wait for their match are kept: a kind of index for each kind of dependence.

DiffStream's algorithm takes a record x of one side and looks at the unmatched records of the other, u. If x equals a
minimal one of them, the two are matched; else, if x depends on one of them, no continuation can make the streams
equivalent; else x waits. Two facts make that cheap. Waiting records of one side are independent of those of the other
(else the verdict was given before), so whether x is minimal on its own side never has to be asked: where it has an
equal in u, it is. And if a record that x depends on comes before the equal of x in u, the verdict is false. So it is
enough to walk through u in order of arrival: the first record that equals x is its match, unless one that x depends on
comes earlier. No order between records is stored (theorem 4.9's state, and nothing else), and a walk costs at most the
length of u.

That walk is `arrival`, which works for any dependence. The structured dependences know without a walk where the first
such record is: `queued` if everything is ordered, `counted` if nothing is, `keyed` by columns, `epochs` by barriers.
`plans` says which index a dependence needs; `sides` has what all of them share. With tolerances, equality is not
transitive, so records cannot be counted. A queue compares only its first record, so it works with tolerances as well.
"""

from firesteel.equivalence.index.arrival import Scan as Scan
from firesteel.equivalence.index.counted import Count as Count
from firesteel.equivalence.index.epochs import Epochs as Epochs
from firesteel.equivalence.index.keyed import Keyed as Keyed
from firesteel.equivalence.index.keyed import Partition as Partition
from firesteel.equivalence.index.keys import key_columns as key_columns
from firesteel.equivalence.index.plans import confined_to as confined_to
from firesteel.equivalence.index.plans import plan as plan
from firesteel.equivalence.index.queued import Queue as Queue
from firesteel.equivalence.index.sides import Book as Book
from firesteel.equivalence.index.sides import Plan as Plan
from firesteel.equivalence.index.sides import Refutation as Refutation
from firesteel.equivalence.index.sides import Waiting as Waiting
