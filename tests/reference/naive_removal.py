"""Iterative removal by brute force: all loads and all routes are looked at in every step."""

from __future__ import annotations

from collections import Counter

Route = tuple[int, ...]
Pair = tuple[int, int]


def iterative_removal(routes: dict[Pair, list[Route]], demand: dict[int, int]) -> dict[Pair, Route]:
    """Thin out lists of routes; of equal routes the one listed last goes.

    Parameters
    ----------
    routes : dict
        Routes of each pair of switches, pairs and routes in tie order.
    demand : dict
        Terminals of each switch.
    """
    left = {pair: list(options) for pair, options in routes.items()}
    place = {pair: k for k, pair in enumerate(left)}
    while True:
        load: Counter[int] = Counter()
        for (s, t), options in left.items():
            for route in options:
                for channel in route:
                    load[channel] += demand[s] * demand[t]
        for channel in sorted(load, key=lambda c: (-load[c], c)):
            able = [
                (len(options), place[pair], number, pair)
                for pair, options in left.items()
                if len(options) > 1
                for number, route in enumerate(options)
                if channel in route
            ]
            if able:
                break
        else:
            return {pair: options[0] for pair, options in left.items()}
        _, _, number, pair = max(able)
        del left[pair][number]
