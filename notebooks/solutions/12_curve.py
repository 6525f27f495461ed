def held_out_accuracy(n):
    model = train(nn.MLP([64, 32, 10], rng=0), images[:n], labels[:n], epochs=40_000 // n)
    return accuracy(model, test_images, test_labels)
