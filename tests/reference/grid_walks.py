"""Walks of hop-by-hop plugins on grids, as hops between coordinates."""

from collections import Counter
from math import sqrt

from routelab.routing.routing import Routing
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid, full_grid


class GridWalks:
    """Walks of one algorithm on one torus or mesh."""

    def __init__(self, text, dims, vcs, wrap=True, seed=0):
        self.topology = build_grid("torus" if wrap else "mesh", dims, wrap=wrap)
        grid = full_grid(self.topology)
        self.dims, self.wrap = grid.dims, grid.wrap
        part = Routing.from_name(text)
        reason = part.supports(self.topology, vcs)
        assert reason is None, f"{text}: {reason}"
        self.program = part.prepare(self.topology, vcs)
        self.walker = Walker(self.program, self.topology, seed)
        self.places = [tuple(row) for row in self.topology.coordinates.tolist()]
        self.switch = {place: s for s, place in enumerate(self.places)}

    def walk(self, source, target, **more):
        """A walk between two places."""
        return self.walker.walk(self.switch[source], self.switch[target], **more)

    def hops_of(self, walk):
        """The hops of a walk as (place, dimension, sign)."""
        labels = self.topology.directions
        hops = []
        for hop in walk.hops:
            label = labels[self.topology.channel_direction[hop.channel]]
            source = self.places[self.topology.channel_source[hop.channel]]
            hops.append((source, label.dimension, label.sign))
        return tuple(hops)

    def pairs(self):
        """All ordered pairs of places."""
        return [(a, b) for a in self.places for b in self.places]


def agrees(seen, chances):
    """Assert that outcomes were seen as often as their chances say, within five deviations."""
    total = sum(seen.values())
    assert set(seen) <= set(chances), set(seen) - set(chances)
    for outcome, chance in chances.items():
        p = float(chance)
        allowed = 5 * sqrt(p * (1 - p) / total)
        assert abs(Counter(seen)[outcome] / total - p) <= allowed, (outcome, p)
