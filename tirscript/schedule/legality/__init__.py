"""Questions that primitives ask before they change anything: which cells, which instances, in which order."""
