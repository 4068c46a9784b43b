"""The kinds of notes that Memorix writes; any other is read and kept."""

TYPES = ("Decision", "Preference", "Procedure", "Gotcha", "Fact", "Episode", "Reference", "Profile")
