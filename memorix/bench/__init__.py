"""Measure recall: `data` reads a set, `metrics` are the measures, `recall` runs ours over it."""
