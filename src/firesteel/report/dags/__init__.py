"""Programs as text and pictures: `groups` says what stands in which box, `layered` where, the others write it."""
