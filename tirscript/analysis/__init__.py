"""Facts about blocks and loops: accesses, regions, kinds, reducers, dependences."""
