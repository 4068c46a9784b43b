"""Measure recall: `data` reads a set, `recall` asks it of us and of the `baselines`, `judging` with
`metrics` judges, `report` writes it down, `run` does it all."""
