"""Many cases in one query: the plan that carries them, which of them may share a watermark, and the run."""
