"""The playground: type a function, see its graph and its gradients.

reader.py reads a text as a Program, interpreter.py computes it, pytorch.py writes it for PyTorch, view.py draws it.
"""
