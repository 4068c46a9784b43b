"""Measure speed and size: the suites `core`, at one size, and `scale`, at several.

Every figure stands beside a floor taken in turns with it: the least work that such a task needs.
`timing` sums up, `corpus` makes the notes, `stock` keeps them, `floors` are the least work,
`starting`, `asking`, `writing`, `following`, `reading`, `weighing` and `simulated` measure,
`suites` puts them in order, `report` and `plot` write it down.
"""
