"""Everything about each lesson except its notebook: one folder per lesson.

`exercises.py` holds its questions: exercises, predictions, questions from memory, the card. `drawings.py`
holds the drawings that no other lesson uses, each a pure function that returns a Picture; drawings
of several lessons are in drawing/. A lesson may import an earlier one, never a later.
"""
