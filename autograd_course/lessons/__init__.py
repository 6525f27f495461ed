"""Everything about each lesson except its notebook: one folder per lesson.

`exercises.py` holds what it asks: exercises, predictions, questions from memory, the card. `drawings.py` holds what it alone draws, each
a pure function that returns a Picture; what several lessons draw is in drawing/. A lesson may import an earlier one, never a later.
"""
