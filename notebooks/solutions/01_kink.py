from_left = forward(abs, 0.0, -1e-5)
from_right = forward(abs, 0.0, 1e-5)
