"""What a creative does, read from what it says: a catalogue of words for it, analysers, and their jobs."""
