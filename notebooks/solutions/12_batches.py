def batches(images, labels, size, rng):
    order = rng.permutation(len(images))  # one order, for both
    for start in range(0, len(images), size):
        rows = order[start:start + size]
        yield images[rows], labels[rows]
