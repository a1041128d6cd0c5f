"""What primitives share when they write: substitution, copies, caches, layouts, new nests and blocks."""
