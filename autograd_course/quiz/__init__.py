"""Ask questions without code: predictions, recall, the card, placement; show the record."""
