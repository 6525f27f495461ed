lowest_x = -2.4     # where the gradient's bar is empty
