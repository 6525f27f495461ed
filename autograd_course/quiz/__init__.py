"""Ask questions that need no code, and show the learner's record.

The questions are predictions, recall questions, the closing card of a lesson, and placement.
"""
