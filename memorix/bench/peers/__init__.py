"""Put other memories beside ours: `base` is what one must do, each other module with a peer's name
is one adapter, `serving` runs it, `judges` measure it, `harness` does it all."""
