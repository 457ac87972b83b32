"""The temporal logic: formulas, verdicts, monitors. Pure Python; an instant may be any value."""

from firesteel.logic.ltl.explain import Reason as Reason
from firesteel.logic.ltl.formulas import FALSE as FALSE
from firesteel.logic.ltl.formulas import TRUE as TRUE
from firesteel.logic.ltl.formulas import Formula as Formula
from firesteel.logic.ltl.formulas import FormulaLike as FormulaLike
from firesteel.logic.ltl.monitor import Monitor as Monitor
from firesteel.logic.ltl.operators import always as always
from firesteel.logic.ltl.operators import consume as consume
from firesteel.logic.ltl.operators import eventually as eventually
from firesteel.logic.ltl.operators import historically as historically
from firesteel.logic.ltl.operators import implies as implies
from firesteel.logic.ltl.operators import let as let
from firesteel.logic.ltl.operators import next_ as next_
from firesteel.logic.ltl.operators import now as now
from firesteel.logic.ltl.operators import once as once
from firesteel.logic.ltl.operators import previously as previously
from firesteel.logic.ltl.operators import release as release
from firesteel.logic.ltl.operators import since as since
from firesteel.logic.ltl.operators import until as until
from firesteel.logic.verdicts import Verdict as Verdict
