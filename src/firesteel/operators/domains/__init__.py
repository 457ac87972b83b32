"""What may be fed to an operator: domains of values, drawn thousands of times a second without Hypothesis.

A domain draws at random, draws from a pool of constants, changes a value a little, and offers simpler values. All
randomness comes from the `Random` that it is handed.
"""

from firesteel.operators.domains.atoms import Binaries as Binaries
from firesteel.operators.domains.atoms import Dates as Dates
from firesteel.operators.domains.atoms import Decimals as Decimals
from firesteel.operators.domains.atoms import Floats as Floats
from firesteel.operators.domains.atoms import Ints as Ints
from firesteel.operators.domains.atoms import Moments as Moments
from firesteel.operators.domains.atoms import Texts as Texts
from firesteel.operators.domains.base import Domain as Domain
from firesteel.operators.domains.base import Pool as Pool
from firesteel.operators.domains.structures import Few as Few
from firesteel.operators.domains.structures import Lists as Lists
from firesteel.operators.domains.structures import Maps as Maps
from firesteel.operators.domains.structures import Maybe as Maybe
from firesteel.operators.domains.structures import Rows as Rows
from firesteel.operators.domains.structures import Samples as Samples
