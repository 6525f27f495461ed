"""Collect everything about each lesson except its notebook, in one folder per lesson.

`exercises.py` holds the questions of the lesson: exercises, predictions, questions about earlier
lessons, and the card. `drawings.py` holds the drawings that no other lesson uses. Each of them is a
pure function that returns a Picture. Drawings that several lessons use are in drawing/. A lesson may
import an earlier one, but never a later one.
"""
