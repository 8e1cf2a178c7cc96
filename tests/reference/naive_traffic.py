"""Patterns of traffic as the book spells them: bit strings, digits, one terminal at a time."""


def bits(rank, count):
    """The rank's bits as a string, the most significant first."""
    return format(rank, f"0{count.bit_length() - 1}b")


def bit_complement(count):
    swap = {"0": "1", "1": "0"}
    return [int("".join(swap[bit] for bit in bits(rank, count)), 2) for rank in range(count)]


def bit_reversal(count):
    return [int(bits(rank, count)[::-1], 2) for rank in range(count)]


def shuffle(count):
    return [int(bits(rank, count)[1:] + bits(rank, count)[0], 2) for rank in range(count)]


def transpose(count):
    """Of an even number of bits: the two halves of the address change places."""
    half = (count.bit_length() - 1) // 2
    return [int(bits(rank, count)[half:] + bits(rank, count)[:half], 2) for rank in range(count)]


def digits(rank, dims):
    """Coordinates of a rank of a row-major grid."""
    coordinates = []
    for size in reversed(dims):
        rank, digit = divmod(rank, size)
        coordinates.append(digit)
    return coordinates[::-1]


def rank_of(place, dims):
    rank = 0
    for digit, size in zip(place, dims, strict=True):
        rank = rank * size + digit
    return rank


def shifted(dims, shift):
    """Target of each rank of a row-major grid if it sends `shift` places further."""
    count = rank_of([size - 1 for size in dims], dims) + 1
    return [
        rank_of(
            [(x + s) % k for x, s, k in zip(digits(rank, dims), shift, dims, strict=True)], dims
        )
        for rank in range(count)
    ]


def most_with_a_neighbour_of_their_own(neighbours):
    """Size of a greatest matching, by trying everything; for a handful of switches."""

    def most(k, taken):
        if k == len(neighbours):
            return 0
        free = [place for place in neighbours[k] if place not in taken]
        return max([most(k + 1, taken), *(1 + most(k + 1, taken | {place}) for place in free)])

    return most(0, frozenset())
