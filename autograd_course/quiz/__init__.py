"""Questions that are not code: predictions, recall, the card, placement, and the learner's record."""
