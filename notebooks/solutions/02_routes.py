a = 2
b, c = 3 * a, a**2
through_b = c * 3           # ∂L/∂b · ∂b/∂a
through_c = b * 2 * a       # ∂L/∂c · ∂c/∂a
gradient_of_a = through_b + through_c
