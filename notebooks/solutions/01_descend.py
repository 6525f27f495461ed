def descend(f, x, rate, steps):
    xs = [x]
    for _ in range(steps):
        xs.append(xs[-1] - rate * central(f, xs[-1], 1e-5))
    return xs
