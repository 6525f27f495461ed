"""Draw a typed function with its graph and its gradients: the playground.

reader.py reads a text as a Program. It asks school.py for mathematics as it is written, layers.py for models and classes, and
pasted.py, with spellings.py and by_hand.py, for the forward pass of a whole example. interpreter.py computes it, pytorch.py writes
it for PyTorch, view.py draws it.
"""
