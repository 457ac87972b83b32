"""Two streams that should be equivalent: what is kept of them between two micro-batches, and what comes of the next.

The rows that wait for their match are one Arrow table (theorem 4.9: nothing else has to be kept). `classes` gives equal
rows equal numbers, a whole column at a time. Where the dependence orders nothing, everything, or the rows of a key,
`columns` compares these numbers. For everything else `records` feeds a `Matcher`: the rows that waited first, which
brings it into the state that it was in. `step` has what both share: quarantine, the watermark, and bounds.
"""
