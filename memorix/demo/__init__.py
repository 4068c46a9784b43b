"""The main job on real input: `run` is the show, the .jsonl files the notes it is shown on."""
