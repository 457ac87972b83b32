"""The search for a case that breaks a claim: drawing, running, judging, shrinking. What is claimed is up to a check."""
