"""Loads that a real server has to bear: each part measures one, `scripts/stress` prints them."""
