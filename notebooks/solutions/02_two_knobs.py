def two_knobs(f, x, y, dx, dy):
    slope_x = central(lambda moving: f(moving, y), x)
    slope_y = central(lambda moving: f(x, moving), y)
    return slope_x * dx + slope_y * dy
