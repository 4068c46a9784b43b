"""Words that the files and the index share: the kinds of notes, and what sets some of them apart.

Other kinds than these are read and kept.
"""

TYPES = ("Decision", "Preference", "Procedure", "Gotcha", "Fact", "Episode", "Reference", "Profile")

INBOX = "inbox"
# Suggested and not yet accepted: the note lies in the folder of this name of its scope.

PRIVATE = "private"
# Its writer marked it so.

SECRET, INSTRUCTION = "secret", "instruction-like"
# It holds what looks like a key or password; it addresses the model that will read it.  Also the
# codes of the warnings about them.

HOST_FILE = "host file"
# It belongs to a host, which reads it by itself; it is recalled, but told of nowhere else.

HELD = (INBOX, PRIVATE, SECRET)
# Why a note is held back; the first that applies before the others.
