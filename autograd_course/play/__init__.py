"""Draw a typed function with its graph and its gradients: the playground.

reader.py reads a text as a Program. It uses school.py for mathematical notation, layers.py for
models and classes, and pasted.py, with spellings.py and by_hand.py, for the forward pass of a whole
example. interpreter.py computes the Program, pytorch.py writes it for PyTorch, and view.py draws
it.
"""
