"""Build the page `engine.ipynb`, which shows the engine and what breaks without one of its lines."""

from .page import diagnose, predict_deletion, patients, read, delete_lines, yours_and_ours

__all__ = ["diagnose", "predict_deletion", "patients", "read", "delete_lines", "yours_and_ours"]
