"""Draw a typed function with its graph and its gradients: the playground.

reader.py reads a text as a Program. It uses posts.py to find the code in a forum post, school.py to
convert mathematical notation, layers.py to write out models and classes, and pasted.py, with
spellings.py and by_hand.py, to extract the forward pass from a whole example. interpreter.py
computes the Program, pytorch.py writes it as PyTorch code, and view.py draws it.
"""
