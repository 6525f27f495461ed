"""A folder a lesson: all of it but its notebook.

`exercises.py` holds what it asks: exercises, predictions, questions from memory, the card. `drawings.py` holds what it alone draws, each
a pure function that returns a Picture; what several lessons draw is in drawing/. A lesson may import an earlier one, never a later.
"""
