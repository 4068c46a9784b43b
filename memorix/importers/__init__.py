"""Memories out of other programs: `formats` chooses, `base` is what each offers."""
