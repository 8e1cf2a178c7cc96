"""Max-min fair shares of the flow engine.

Rates are max-min fair if every flow crosses a full resource on which no flow is faster (Bertsekas
and Gallager, *Data Networks*, 2nd ed., section 6.5.2): its *limit*. A change therefore spreads only
through limits. The computation begins with the changed bundles and those that have a limit in
common with them; all others keep their rates, and progressive filling shares the rest of the
capacity. Then it checks the others. It adds bundles whose limit is no longer full or now has a
faster flow, and bundles that are faster than the new shares. It repeats the filling until no
bundle is added. If a change spreads far, it adds all bundles that limits can reach.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at


@helper(_nrt=False)
def enter_resources(flow, bundle):
    """Add a bundle, which has messages now, to the resources of its path."""
    bundle_row = flow.bundles[u(bundle)]
    for crossing in range(bundle_row.first, bundle_row.first + bundle_row.crossings):
        resource = flow.crossings[u(crossing)].resource
        place = flow.resources[u(resource)].members
        flow.resources[u(resource)].members = place + 1
        flow.crossings[u(crossing)].place = place
        member = flow.resources[u(resource)].first + place
        flow.members[u(member)].bundle = bundle
        flow.members[u(member)].crossing = crossing


@helper(_nrt=False)
def leave_resources(flow, bundle):
    """Remove a bundle without messages from its resources; list those that limit others."""
    bundle_row = flow.bundles[u(bundle)]
    if bundle_row.limit >= 0:
        flow.resources[u(bundle_row.limit)].limits -= 1
        flow.bundles[u(bundle)].limit = -1
    for crossing in range(bundle_row.first, bundle_row.first + bundle_row.crossings):
        resource = flow.crossings[u(crossing)].resource
        last_member = flow.resources[u(resource)].members - 1
        flow.resources[u(resource)].members = last_member
        first_member = flow.resources[u(resource)].first
        place = flow.crossings[u(crossing)].place
        moved = flow.members[u(first_member + last_member)]
        flow.members[u(first_member + place)].bundle = moved.bundle
        flow.crossings[u(moved.crossing)].place = place
        flow.members[u(first_member + place)].crossing = moved.crossing
        if flow.resources[u(resource)].limits > 0:
            flow.freed[u(flow.ints[at.FREED])] = resource
            flow.ints[at.FREED] += 1


@helper(_nrt=False)
def change(flow, bundle):
    """List a bundle whose messages have changed."""
    if flow.bundles[u(bundle)].changed == 0:
        flow.bundles[u(bundle)].changed = 1
        flow.changed[u(flow.ints[at.CHANGED])] = bundle
        flow.ints[at.CHANGED] += 1


@inline
def _add_bundle(flow, bundle, num_bundles):
    """Add a bundle to the computation; return the number of bundles in it."""
    epoch = np.int32(flow.ints[at.EPOCH])
    if flow.bundles[u(bundle)].epoch == epoch:
        return num_bundles
    flow.bundles[u(bundle)].epoch = epoch
    flow.affected_bundles[u(num_bundles)] = bundle
    return num_bundles + 1


@helper(_nrt=False)
def _add_members(flow, resource, num_bundles):
    """Add all bundles of a resource; return the number of bundles in the computation."""
    epoch = np.int32(flow.ints[at.EPOCH])
    if flow.resources[u(resource)].whole == epoch:
        return num_bundles
    flow.resources[u(resource)].whole = epoch
    first_member = flow.resources[u(resource)].first
    for member in range(first_member, first_member + flow.resources[u(resource)].members):
        num_bundles = _add_bundle(flow, flow.members[u(member)].bundle, num_bundles)
    return num_bundles


@helper(_nrt=False)
def _add_faster(flow, resource, rate, num_bundles):
    """Add the bundles that a resource limits, and its bundles above a rate."""
    first_member = flow.resources[u(resource)].first
    for member in range(first_member, first_member + flow.resources[u(resource)].members):
        bundle = flow.members[u(member)].bundle
        if flow.bundles[u(bundle)].limit == resource or flow.bundles[u(bundle)].rate > rate:
            num_bundles = _add_bundle(flow, bundle, num_bundles)
    return num_bundles


@helper(_nrt=False)
def _add_changed(flow):
    """Add the changed bundles; return their number."""
    num_bundles = 0
    for k in range(flow.ints[at.CHANGED]):
        bundle = flow.changed[u(k)]
        if flow.bundles[u(bundle)].count > 0:
            num_bundles = _add_bundle(flow, bundle, num_bundles)
        else:
            flow.bundles[u(bundle)].changed = 0
    changed = num_bundles
    for k in range(flow.ints[at.FREED]):
        num_bundles = _add_faster(flow, flow.freed[u(k)], at.NEVER, num_bundles)
    for k in range(changed):
        bundle_row = flow.bundles[u(flow.affected_bundles[u(k)])]
        for crossing in range(bundle_row.first, bundle_row.first + bundle_row.crossings):
            resource = flow.crossings[u(crossing)].resource
            if flow.resources[u(resource)].limits > 0:
                num_bundles = _add_faster(flow, resource, at.NEVER, num_bundles)
    if flow.ints[at.S_FULL] != 0:
        for bundle in range(len(flow.bundles)):
            if flow.bundles[u(bundle)].count > 0:
                num_bundles = _add_bundle(flow, bundle, num_bundles)
    flow.ints[at.CHANGED] = 0
    flow.ints[at.FREED] = 0
    return num_bundles


@helper(_nrt=False)
def _spread(flow, begin, num_bundles, touched, far):
    """Add the resources of the bundles from `begin` on; return the numbers of both.

    With `far`, also add all bundles of resources that limit any, recursively.
    """
    epoch = np.int32(flow.ints[at.EPOCH])
    place = begin
    while place < num_bundles:
        bundle_row = flow.bundles[u(flow.affected_bundles[u(place)])]
        for crossing in range(bundle_row.first, bundle_row.first + bundle_row.crossings):
            resource = flow.crossings[u(crossing)].resource
            if flow.resources[u(resource)].epoch != epoch:
                flow.resources[u(resource)].epoch = epoch
                flow.affected_resources[u(touched)] = resource
                touched += 1
            if far and flow.resources[u(resource)].limits > 0:
                num_bundles = _add_members(flow, resource, num_bundles)
        place += 1
    return num_bundles, touched


@helper(_nrt=False)
def _reset_resources(flow, touched):
    """Reset each resource to its free capacity and its number of messages."""
    epoch = np.int32(flow.ints[at.EPOCH])
    for k in range(touched):
        resource = flow.affected_resources[u(k)]
        row = flow.resources[u(resource)]
        free_capacity, fastest, weight, held = row.capacity, 0.0, 0, 0
        for member in range(row.first, row.first + row.members):
            bundle = flow.members[u(member)].bundle
            count = flow.bundles[u(bundle)].count
            if flow.bundles[u(bundle)].epoch == epoch:
                weight += count
            else:
                rate = flow.bundles[u(bundle)].rate
                free_capacity -= rate * count
                fastest = max(fastest, rate)
                held += flow.bundles[u(bundle)].limit == resource
        # a full resource has a rounding error around zero
        flow.resources[u(resource)].free_capacity = max(free_capacity, 0.0)
        flow.resources[u(resource)].fastest = fastest
        flow.resources[u(resource)].weight = weight
        flow.resources[u(resource)].held = held
        flow.resources[u(resource)].last_share = 0.0


@helper(_nrt=False)
def _sift_down(flow, place, size):
    """Move a resource down the heap of levels to its place."""
    level, at_level = flow.level, flow.at_level
    share, resource = level[u(place)], at_level[u(place)]
    child = 2 * place + 1
    while child < size:
        if child + 1 < size and level[u(child + 1)] < level[u(child)]:
            child += 1
        if level[u(child)] >= share:
            break
        level[u(place)] = level[u(child)]
        at_level[u(place)] = at_level[u(child)]
        place = child
        child = 2 * place + 1
    level[u(place)] = share
    at_level[u(place)] = resource


@helper(_nrt=False)
def _set_rates(flow, resource, share):
    """Set the rate of the bundles of a resource that have none yet."""
    epoch = np.int32(flow.ints[at.EPOCH])
    first_member = flow.resources[u(resource)].first
    for member in range(first_member, first_member + flow.resources[u(resource)].members):
        bundle = flow.members[u(member)].bundle
        if flow.bundles[u(bundle)].epoch != epoch or flow.bundles[u(bundle)].fresh >= 0.0:
            continue
        flow.bundles[u(bundle)].fresh = share
        flow.bundles[u(bundle)].fresh_limit = resource
        bundle_row = flow.bundles[u(bundle)]
        for crossing in range(bundle_row.first, bundle_row.first + bundle_row.crossings):
            crossed = flow.crossings[u(crossing)].resource
            flow.resources[u(crossed)].free_capacity -= share * bundle_row.count
            flow.resources[u(crossed)].weight -= bundle_row.count
            flow.resources[u(crossed)].last_share = share


@helper(_nrt=False)
def _fill(flow, num_bundles, touched):
    """Fill progressively; return the new number of bundles in the computation.

    The filling must be repeated if the number has grown. A resource's share only grows while others
    get theirs, so the queue of resources may be out of date.
    """
    level, at_level = flow.level, flow.at_level
    # 1. A heap of the resources by the share that each could give to its bundles without a rate.
    for k in range(num_bundles):
        flow.bundles[u(flow.affected_bundles[u(k)])].fresh = -1.0
    size, num_after = touched, num_bundles
    for k in range(touched):
        resource = flow.affected_resources[u(k)]
        level[u(k)] = flow.resources[u(resource)].free_capacity / flow.resources[u(resource)].weight
        at_level[u(k)] = resource
    for k in range((size >> 1) - 1, -1, -1):
        _sift_down(flow, k, size)
    # 2. The resource with the least share is full first: it limits its bundles.
    level_now = 0.0
    while size > 0:
        resource = at_level[0]
        weight = flow.resources[u(resource)].weight
        if weight > 0:
            share = max(flow.resources[u(resource)].free_capacity, 0.0) / weight
            # other resources have given rates to some of its bundles since: it gets its place anew
            if share > level[0] * (1.0 + at.TOLERANCE):
                level[0] = share
                _sift_down(flow, 0, size)
                continue
            # on a full resource nobody may be faster: bundles that kept such a rate are recomputed
            if flow.resources[u(resource)].fastest > share * (1.0 + at.TOLERANCE):
                num_after = _add_faster(flow, resource, share, num_after)
            # shares never decrease, except by a rounding error
            level_now = max(level_now, share)
            _set_rates(flow, resource, level_now)
        size -= 1
        level[0] = level[u(size)]
        at_level[0] = at_level[u(size)]
        _sift_down(flow, 0, size)
    return num_after


@helper(_nrt=False)
def _add_unlimited(flow, num_bundles, touched):
    """Add the bundles that have lost their limit; return the new number of bundles."""
    for k in range(touched):
        row = flow.resources[u(flow.affected_resources[u(k)])]
        if row.held > 0 and (
            row.free_capacity > row.capacity * at.TOLERANCE
            or row.last_share > row.fastest * (1.0 + at.TOLERANCE)
        ):
            num_bundles = _add_faster(flow, flow.affected_resources[u(k)], at.NEVER, num_bundles)
    return num_bundles


@helper(_nrt=False)
def shares(flow):
    """Recompute changed shares; return the number of bundles in `sharing` with a new `fresh`."""
    flow.ints[at.EPOCH] += 1
    num_bundles = _add_changed(flow)
    if num_bundles == 0:
        return 0
    flow.ints[at.SHARE_COMPUTATIONS] += 1
    num_spread, touched, tries = 0, 0, 0
    while num_spread < num_bundles:
        tries += 1
        far = tries > at.NEAR
        num_bundles, touched = _spread(flow, 0 if far else num_spread, num_bundles, touched, far)
        flow.ints[at.COMPUTED_SHARES] += num_bundles
        _reset_resources(flow, touched)
        num_spread = num_bundles
        num_bundles = _add_unlimited(flow, _fill(flow, num_bundles, touched), touched)
    return num_bundles
