"""Notes out of Memorix: `formats` chooses by the name of the target, `base` is what each offers."""
