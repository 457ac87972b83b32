"""Linear temporal logic over finite traces: formulas, and their readings (monitor, explain, lengths, margin)."""
