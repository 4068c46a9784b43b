"""Measure whole uses of a memory: scripts of calls with fixed clocks, then probes.

`scenarios` reads them, `adapter` says what a memory under test must offer, `over_mcp` and
`baselines` are such memories, `judge` and `measures` decide without a model, `run` does it all.
"""
