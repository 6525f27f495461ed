value_after = 12 + (-3) * 0.02      # the value, plus gradient × nudge
