"""Draw a typed function with its graph and its gradients: the playground.

reader.py reads a text as a Program; pasted.py takes the forward pass out of a whole example. interpreter.py computes it,
pytorch.py writes it for PyTorch, view.py draws it.
"""
