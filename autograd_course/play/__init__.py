"""Draw a typed function with its graph and its gradients: the playground.

reader.py reads a text as a Program, interpreter.py computes it, pytorch.py writes it for PyTorch, view.py draws it.
"""
