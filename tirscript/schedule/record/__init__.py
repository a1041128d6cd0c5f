"""What a schedule remembers: its trace, its history, named steps, the tree, the check of each step."""
