"""Numbers for people."""

from __future__ import annotations

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def seconds(t: float) -> str:
    """A time for people: four significant digits and a unit.

    >>> seconds(0.0012345), seconds(2.5e-6)
    ('1.234 ms', '2.500 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if t >= scale or unit == "ns":
            value = t / scale
            return f"{value:.{max(0, 3 - len(str(int(value))) + 1)}f} {unit}"
    raise AssertionError


def amount(value: float, unit: str) -> str:
    """A number with a decimal prefix: three significant digits.

    >>> amount(4194304, "FLOP"), amount(12, "B"), amount(1536, "B"), amount(0, "B")
    ('4.19 MFLOP', '12 B', '1.54 kB', '0 B')
    """
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale * 0.9995:
            return f"{_digits(value / scale)} {prefix}{unit}"
    return f"{_digits(value)} {unit}"


def _digits(value: float) -> str:
    if value == int(value) and abs(value) < 1000:
        return str(int(value))
    size = abs(value)
    return f"{value:.{2 if size < 10 else 1 if size < 100 else 0}f}"


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.1234), percent(0.99999), percent(0.0001)
    ('12%', '100%', '0.01%')
    """
    value = share * 100
    return f"{value:.0f}%" if value >= 9.5 else f"{value:.1f}%" if value >= 0.1 else f"{value:.2g}%"


__all__ = ["amount", "percent", "seconds"]
