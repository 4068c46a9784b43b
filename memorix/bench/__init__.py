"""Measure recall: `data` reads a set, `recall` asks it, `metrics` judge, `run` does it all."""
