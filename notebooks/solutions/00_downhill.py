def downhill(x, gradient):
    return x - 0.1 * gradient
