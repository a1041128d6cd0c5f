"""Integer reasoning: normal forms, bounds, simplification, iterator maps."""
