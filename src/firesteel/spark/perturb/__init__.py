"""Running a case under a perturbation: what is changed in its input, and in Spark."""
