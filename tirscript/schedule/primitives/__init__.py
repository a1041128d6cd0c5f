"""The primitives, one file each: what it checks, what it writes, its errors as data."""
