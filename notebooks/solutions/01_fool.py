def wrong_slope(x):
    return 3 * x        # 3 at x = 1, like the true slope 3x²; 3x and 3x² meet at 0 as well
