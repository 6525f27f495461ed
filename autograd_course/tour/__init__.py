"""Build the page `engine.ipynb`: all definitions of the engine's core, each line deletable."""

from .page import diagnose, predict_deletion, patients, read, delete_lines, yours_and_ours

__all__ = ["diagnose", "predict_deletion", "patients", "read", "delete_lines", "yours_and_ours"]
