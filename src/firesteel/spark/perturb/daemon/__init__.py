"""A folder that Spark's Python processes get on their path: what lies here is imported there by its own name."""
