local = 10 / -4       # arrived × local = left, so local = left / arrived
