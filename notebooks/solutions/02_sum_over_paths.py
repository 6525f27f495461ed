def sum_over_paths(paths):
    total = 0
    for path in paths:
        total += np.prod(path)
    return total
