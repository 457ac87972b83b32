"""Linear temporal logic over finite traces.

`operators` has the functions that make formulas, and `formulas` what they make. A formula is read by `monitor` (its
verdict), `explain` (why), `lengths` (how long a trace has to be) and `margin` (how far a trace is from breaking it).
The monitor works by `progression`, with `past` and `obligations`; `asking` calls the functions of the user.
"""
