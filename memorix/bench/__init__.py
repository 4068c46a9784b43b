"""Measure recall: `data` reads a set, `metrics` are the measures, `recall` asks, `run` does it all."""
