"""The hosts that run us: where each keeps its settings, and how we get in and out of them."""
