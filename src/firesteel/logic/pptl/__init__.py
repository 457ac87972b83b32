"""Propositional projection temporal logic over finite traces: properties of intervals of states.

`parse` reads the text of a formula, and `operators` has the functions that make one. `Formula.evaluate` judges a
complete trace, `Formula.monitor` one that is still coming in. `satisfiable`, `witness` and `equivalent` ask about
formulas themselves. Pure Python; a state is a set of names.

Inside: `terms` and `derivative` say what a formula means, `automata` builds from them (with `diagrams` and
`minimise`), and `monitor`, `evaluate` and `explain` read traces.
"""

from firesteel.logic.pptl.automata import Automaton as Automaton
from firesteel.logic.pptl.automata import automaton as automaton
from firesteel.logic.pptl.explain import Explanation as Explanation
from firesteel.logic.pptl.explain import Step as Step
from firesteel.logic.pptl.formulas import Formula as Formula
from firesteel.logic.pptl.formulas import FormulaLike as FormulaLike
from firesteel.logic.pptl.limits import Inconclusive as Inconclusive
from firesteel.logic.pptl.monitor import Monitor as Monitor
from firesteel.logic.pptl.operators import always as always
from firesteel.logic.pptl.operators import and_ as and_
from firesteel.logic.pptl.operators import chop as chop
from firesteel.logic.pptl.operators import empty as empty
from firesteel.logic.pptl.operators import eventually as eventually
from firesteel.logic.pptl.operators import false as false
from firesteel.logic.pptl.operators import fin as fin
from firesteel.logic.pptl.operators import halt as halt
from firesteel.logic.pptl.operators import iff as iff
from firesteel.logic.pptl.operators import implies as implies
from firesteel.logic.pptl.operators import keep as keep
from firesteel.logic.pptl.operators import len_ as len_
from firesteel.logic.pptl.operators import more as more
from firesteel.logic.pptl.operators import name as name
from firesteel.logic.pptl.operators import next_ as next_
from firesteel.logic.pptl.operators import not_ as not_
from firesteel.logic.pptl.operators import or_ as or_
from firesteel.logic.pptl.operators import par as par
from firesteel.logic.pptl.operators import prj as prj
from firesteel.logic.pptl.operators import release as release
from firesteel.logic.pptl.operators import repeat as repeat
from firesteel.logic.pptl.operators import skip as skip
from firesteel.logic.pptl.operators import star as star
from firesteel.logic.pptl.operators import true as true
from firesteel.logic.pptl.operators import until as until
from firesteel.logic.pptl.operators import weak_next as weak_next
from firesteel.logic.pptl.operators import while_ as while_
from firesteel.logic.pptl.parser import PptlSyntaxError as PptlSyntaxError
from firesteel.logic.pptl.parser import parse as parse
from firesteel.logic.pptl.questions import equivalent as equivalent
from firesteel.logic.pptl.questions import satisfiable as satisfiable
from firesteel.logic.pptl.questions import witness as witness
from firesteel.logic.pptl.states import State as State
from firesteel.logic.pptl.translate import of as of
