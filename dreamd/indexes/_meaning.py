"""Vectors in; bits and bytes to keep of them, and how near two are, out (pure).

A vector is kept twice: the sign of each number, by which all are looked through (the share of differing signs follows the
angle: Charikar 2002), and each number as a byte, by which the best are weighed again.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import mul

_SCALE = 127


def signs(numbers: Sequence[float]) -> bytes:
    """A bit each, set where it is above the middle."""
    bits = int("".join("1" if number > 0 else "0" for number in numbers), 2)
    return bits.to_bytes((len(numbers) + 7) // 8, "big")


def packed(numbers: Sequence[float]) -> bytes:
    """A byte each, of the vector stretched until its greatest number fills one."""
    top = max(map(abs, numbers), default=0.0) or 1.0
    return array("b", (round(number / top * _SCALE) for number in numbers)).tobytes()


def cosine(numbers: Sequence[float], kept: bytes) -> float:
    """-1 to 1; 0 for vectors of different lengths."""
    other = array("b", kept)
    if len(other) != len(numbers):
        return 0.0
    size = math.sqrt(sum(map(mul, numbers, numbers)) * sum(map(mul, other, other)))
    return sum(map(mul, numbers, other)) / size if size else 0.0


def nearest(wanted: bytes, kept: Iterable[tuple[int, int]], most: int) -> list[int]:
    """The places whose signs differ least; `kept` are (place, signs as a number)."""
    bits = int.from_bytes(wanted, "big")
    found = sorted(((bits ^ other).bit_count() << 64) | place for place, other in kept)
    return [each & ((1 << 64) - 1) for each in found[:most]]
