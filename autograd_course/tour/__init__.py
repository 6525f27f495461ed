"""The page `engine.ipynb`: every definition of the engine's core in the order of reading, any line of it struck out."""

from .page import diagnose, foretell, patients, read, strike_out, yours_and_ours

__all__ = ["diagnose", "foretell", "patients", "read", "strike_out", "yours_and_ours"]
