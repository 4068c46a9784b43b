"""Notes out of the vault, a module a format: `formats` chooses, `base` is what each offers."""
