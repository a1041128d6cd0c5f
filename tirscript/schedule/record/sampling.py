"""Drawing numbers: perfect tiles, each with the same chance, and choices by weight."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

_TRIED = 1 << 20  # prime factors beyond are not looked for


def factorized(n: int) -> dict[int, int]:
    """The prime factors of a positive integer with their exponents.

    What is left after trying the divisors up to a million counts as one prime.

    >>> factorized(360)
    {2: 3, 3: 2, 5: 1}
    """
    found: dict[int, int] = {}
    p = 2
    while p * p <= n and p <= _TRIED:
        while n % p == 0:
            found[p] = found.get(p, 0) + 1
            n //= p
        p += 1 if p == 2 else 2
    if n > 1:
        found[n] = found.get(n, 0) + 1
    return found


def tilings(n: int, parts: int) -> int:
    """In how many ways ``n`` is a product of ``parts`` factors in order.

    >>> tilings(12, 2), tilings(1, 5), tilings(7, 3)
    (6, 1, 3)
    """
    if parts == 0:
        return int(n == 1)
    return math.prod(math.comb(e + parts - 1, parts - 1) for e in factorized(n).values())


def weighted(weights: Sequence[float], rng: random.Random) -> int:
    """The number of a weight, drawn in proportion."""
    total = math.fsum(weights)
    at = rng.random() * total
    last = 0
    for n, w in enumerate(weights):
        if w > 0:
            last = n
            if at < w:
                return n
            at -= w
    return last


def tile(n: int, parts: int, largest_inner: int | None, rng: random.Random) -> list[int]:
    """``parts`` factors of ``n``, the last at most ``largest_inner``; each such list with the same chance.

    >>> tile(64, 3, 16, random.Random(1))
    [32, 2, 1]
    """
    inner = [d for d in divisors(n) if largest_inner is None or d <= largest_inner]
    chosen = inner[weighted([tilings(n // d, parts - 1) for d in inner], rng)]
    return [*_spread(n // chosen, parts - 1, rng), chosen]


def _spread(n: int, parts: int, rng: random.Random) -> list[int]:
    """``parts`` factors of ``n``, each list with the same chance: the exponents are drawn prime by prime."""
    out = [1] * parts
    for p, e in factorized(n).items():
        for k in range(parts):
            left = parts - k - 1
            if left == 0:
                take = e
            else:
                take = weighted([math.comb(e - t + left - 1, left - 1) for t in range(e + 1)], rng)
            out[k] *= p**take
            e -= take
    return out


def partitioned(n: int, parts: int, position: int, inner: int, rng: random.Random) -> list[int]:
    """Factors of ``n`` of which those from ``position`` on have a product that ``inner`` divides."""
    out = _spread(n // inner, parts, rng)
    for k, f in enumerate(_spread(inner, parts - position, rng) if position < parts else ()):
        out[position + k] *= f
    return out


def divisors(n: int) -> list[int]:
    """The divisors that its known prime factors make, in order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    out = [1]
    for p, e in factorized(n).items():
        out = [d * p**k for d in out for k in range(e + 1)]
    return sorted(out)


def repaired(n: int, factors: Sequence[int]) -> list[int]:
    """A perfect tile from one that may be for another extent: from the inside out, factors that divide what
    is left stay, one that does not becomes all that is left, and the first takes the rest.

    >>> repaired(60, [4, 5, 3]), repaired(60, [9, 7, 2])
    ([4, 5, 3], [1, 30, 2])
    """
    out = list(factors)
    for k in range(len(out) - 1, 0, -1):
        if out[k] < 1 or n % out[k]:
            out[k] = n
        n //= out[k]
    out[0] = n
    return out


__all__ = ["divisors", "factorized", "partitioned", "repaired", "tile", "tilings", "weighted"]
