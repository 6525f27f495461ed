def standardise(train, new):
    mean, spread = train.mean(axis=0), train.std(axis=0)  # from the training scans, and from nothing else
    spread = np.where(spread > 0, spread, 1)
    return (train - mean) / spread, (new - mean) / spread
