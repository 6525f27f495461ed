"""The page `engine.ipynb`: all definitions of the engine's core in reading order, each line deletable."""

from .page import diagnose, foretell, patients, read, strike_out, yours_and_ours

__all__ = ["diagnose", "foretell", "patients", "read", "strike_out", "yours_and_ours"]
