"""MSVL, the Modeling, Simulation and Verification Language: programs whose statements are temporal formulas.

`load` reads a program. It can be run (`Program.run`), watched (`Program.states`), and all its choices can be tried
(`Program.models`). `property` gives the negation of a PPTL formula as a program, and
`fs.verify` is the quick way to use it.

Inside: `terms` and `tree` are the syntax, `grammar` and `printing` its text; `compiling` makes nodes (`statements`,
`projection`, `expressions`) that leave `residuals`; `machine` makes one state, and `exploring` one after another.
"""

from firesteel.model.msvl.errors import BoundReached as BoundReached
from firesteel.model.msvl.errors import ExternalError as ExternalError
from firesteel.model.msvl.errors import MsvlError as MsvlError
from firesteel.model.msvl.errors import MsvlSyntaxError as MsvlSyntaxError
from firesteel.model.msvl.errors import NoModel as NoModel
from firesteel.model.msvl.errors import RunError as RunError
from firesteel.model.msvl.errors import Undefined as Undefined
from firesteel.model.msvl.errors import Unusable as Unusable
from firesteel.model.msvl.negation import property as property
from firesteel.model.msvl.program import Program as Program
from firesteel.model.msvl.program import State as State
from firesteel.model.msvl.program import load as load
