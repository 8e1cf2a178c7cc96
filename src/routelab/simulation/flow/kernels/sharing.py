"""Max-min fair shares of the flow engine.

Rates are max-min fair if every flow crosses a full resource on which no flow is faster (Bertsekas
and Gallager, *Data Networks*, 2nd ed., section 6.5.2): its *bottleneck*. A change therefore spreads
only through bottlenecks. So a computation repeats these steps:

    1. affected bundles   at first the changed ones, and those whose bottleneck these cross or have
                          left; all others are fixed: they keep their rates
    2. filling            progressive filling shares what the fixed bundles leave
    3. check              fixed bundles whose bottleneck is no longer full or now has a faster flow,
                          and fixed bundles that are faster than the new shares, are affected, too

until step 3 adds no bundle. If a change spreads far, it adds all bundles that bottlenecks can
reach. A bundle or resource is part of computation number EPOCH if its `epoch` is this number.

`at` is the module `layout`, which describes all arrays of `flow`. `u` makes an index unsigned, so
that Numba omits the check for negative ones.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at


@helper(_nrt=False)
def enter_resources(flow, bundle):
    """Make a bundle, which has messages now, a member of the resources of its path."""
    row = flow.bundles[u(bundle)]
    for crossing in range(row.first_crossing, row.first_crossing + row.num_crossings):
        resource = flow.crossings[u(crossing)].resource
        index = flow.resources[u(resource)].num_members
        flow.resources[u(resource)].num_members = index + 1
        flow.crossings[u(crossing)].member_index = index
        member = flow.resources[u(resource)].first_member + index
        flow.members[u(member)].bundle = bundle
        flow.members[u(member)].crossing = crossing


@helper(_nrt=False)
def leave_resources(flow, bundle):
    """Remove a bundle without messages from the members of its resources.

    Also list the bottlenecks of other bundles among them, because these get larger shares.
    """
    row = flow.bundles[u(bundle)]
    if row.bottleneck >= 0:
        flow.resources[u(row.bottleneck)].num_bottlenecked -= 1
        flow.bundles[u(bundle)].bottleneck = -1
    for crossing in range(row.first_crossing, row.first_crossing + row.num_crossings):
        resource = flow.crossings[u(crossing)].resource
        last_member = flow.resources[u(resource)].num_members - 1
        flow.resources[u(resource)].num_members = last_member
        first_member = flow.resources[u(resource)].first_member
        index = flow.crossings[u(crossing)].member_index
        # The last member takes the index of the bundle, so that members have no gaps.
        moved = flow.members[u(first_member + last_member)]
        flow.members[u(first_member + index)].bundle = moved.bundle
        flow.crossings[u(moved.crossing)].member_index = index
        flow.members[u(first_member + index)].crossing = moved.crossing
        if flow.resources[u(resource)].num_bottlenecked > 0:
            flow.freed_resources[u(flow.ints[at.NUM_FREED])] = resource
            flow.ints[at.NUM_FREED] += 1


@helper(_nrt=False)
def mark_changed(flow, bundle):
    """List a bundle whose number of messages has changed, for the next computation."""
    if flow.bundles[u(bundle)].changed == 0:
        flow.bundles[u(bundle)].changed = 1
        flow.changed_bundles[u(flow.ints[at.NUM_CHANGED])] = bundle
        flow.ints[at.NUM_CHANGED] += 1


@inline
def _add_bundle(flow, bundle, num_bundles):
    """Make a bundle affected, if it is not yet.

    `num_bundles` is the number of affected bundles so far. Return it after the change.
    """
    epoch = np.int32(flow.ints[at.EPOCH])
    if flow.bundles[u(bundle)].epoch == epoch:
        return num_bundles
    flow.bundles[u(bundle)].epoch = epoch
    flow.affected_bundles[u(num_bundles)] = bundle
    return num_bundles + 1


@helper(_nrt=False)
def _add_members(flow, resource, num_bundles):
    """Make all members of a resource affected; return the number of affected bundles.

    This is done once in a computation of shares, because many bundles cross the resource.
    """
    epoch = np.int32(flow.ints[at.EPOCH])
    if flow.resources[u(resource)].all_affected_epoch == epoch:
        return num_bundles
    flow.resources[u(resource)].all_affected_epoch = epoch
    first_member = flow.resources[u(resource)].first_member
    for member in range(first_member, first_member + flow.resources[u(resource)].num_members):
        num_bundles = _add_bundle(flow, flow.members[u(member)].bundle, num_bundles)
    return num_bundles


@helper(_nrt=False)
def _add_bottlenecked_or_faster(flow, resource, rate, num_bundles):
    """Make those members of a resource affected whose bottleneck it is, or that exceed a rate.

    Return the number of affected bundles. With the rate NEVER (infinity), no bundle exceeds it.
    """
    first_member = flow.resources[u(resource)].first_member
    for member in range(first_member, first_member + flow.resources[u(resource)].num_members):
        bundle = flow.members[u(member)].bundle
        if flow.bundles[u(bundle)].bottleneck == resource or flow.bundles[u(bundle)].rate > rate:
            num_bundles = _add_bundle(flow, bundle, num_bundles)
    return num_bundles


@helper(_nrt=False)
def _add_changed(flow):
    """Make those bundles affected with which a computation begins; return their number.

    They are the changed bundles, and all bundles whose bottleneck these cross or have left. The
    lists of changed bundles and freed resources are empty afterwards.
    """
    num_bundles = 0
    for k in range(flow.ints[at.NUM_CHANGED]):
        bundle = flow.changed_bundles[u(k)]
        if flow.bundles[u(bundle)].num_messages > 0:
            num_bundles = _add_bundle(flow, bundle, num_bundles)
        else:
            # An empty bundle gets no rate. When it left its resources, it listed the bottlenecks.
            flow.bundles[u(bundle)].changed = 0
    num_changed = num_bundles
    for k in range(flow.ints[at.NUM_FREED]):
        num_bundles = _add_bottlenecked_or_faster(
            flow, flow.freed_resources[u(k)], at.NEVER, num_bundles
        )
    for k in range(num_changed):
        row = flow.bundles[u(flow.affected_bundles[u(k)])]
        for crossing in range(row.first_crossing, row.first_crossing + row.num_crossings):
            resource = flow.crossings[u(crossing)].resource
            if flow.resources[u(resource)].num_bottlenecked > 0:
                num_bundles = _add_bottlenecked_or_faster(flow, resource, at.NEVER, num_bundles)
    # For checks: all bundles with messages.
    if flow.ints[at.S_RECOMPUTE_ALL] != 0:
        for bundle in range(len(flow.bundles)):
            if flow.bundles[u(bundle)].num_messages > 0:
                num_bundles = _add_bundle(flow, bundle, num_bundles)
    flow.ints[at.NUM_CHANGED] = 0
    flow.ints[at.NUM_FREED] = 0
    return num_bundles


@helper(_nrt=False)
def _collect_resources(flow, first_new, num_bundles, num_resources, transitive):
    """List the resources of the affected bundles from number `first_new` on.

    If `transitive`, each of these resources that is a bottleneck also makes all its members
    affected, whose resources are then listed in turn. Return the numbers of affected bundles and
    resources.
    """
    epoch = np.int32(flow.ints[at.EPOCH])
    # Not a `for` loop, because `num_bundles` grows.
    k = first_new
    while k < num_bundles:
        row = flow.bundles[u(flow.affected_bundles[u(k)])]
        for crossing in range(row.first_crossing, row.first_crossing + row.num_crossings):
            resource = flow.crossings[u(crossing)].resource
            if flow.resources[u(resource)].epoch != epoch:
                flow.resources[u(resource)].epoch = epoch
                flow.affected_resources[u(num_resources)] = resource
                num_resources += 1
            if transitive and flow.resources[u(resource)].num_bottlenecked > 0:
                num_bundles = _add_members(flow, resource, num_bundles)
        k += 1
    return num_bundles, num_resources


@helper(_nrt=False)
def _reset_resources(flow, num_resources):
    """Set the scratch fields of all affected resources to the state before the filling."""
    epoch = np.int32(flow.ints[at.EPOCH])
    for k in range(num_resources):
        resource = flow.affected_resources[u(k)]
        row = flow.resources[u(resource)]
        free_capacity, fastest_fixed, unfilled, bottlenecked = row.capacity, 0.0, 0, 0
        for member in range(row.first_member, row.first_member + row.num_members):
            bundle = flow.members[u(member)].bundle
            count = flow.bundles[u(bundle)].num_messages
            if flow.bundles[u(bundle)].epoch == epoch:
                unfilled += count
            else:
                rate = flow.bundles[u(bundle)].rate
                free_capacity -= rate * count
                fastest_fixed = max(fastest_fixed, rate)
                bottlenecked += flow.bundles[u(bundle)].bottleneck == resource
        # The free capacity of a full resource is zero up to a rounding error, or below.
        flow.resources[u(resource)].free_capacity = max(free_capacity, 0.0)
        flow.resources[u(resource)].fastest_fixed = fastest_fixed
        flow.resources[u(resource)].unfilled_messages = unfilled
        flow.resources[u(resource)].fixed_bottlenecked = bottlenecked
        flow.resources[u(resource)].fastest_affected = 0.0


@helper(_nrt=False)
def _sift_down(flow, index, size):
    """Move the entry at an index of `share_heap` down, past smaller shares."""
    shares, resources = flow.share_heap, flow.share_resource
    share, resource = shares[u(index)], resources[u(index)]
    child = 2 * index + 1
    while child < size:
        if child + 1 < size and shares[u(child + 1)] < shares[u(child)]:
            child += 1
        if shares[u(child)] >= share:
            break
        shares[u(index)] = shares[u(child)]
        resources[u(index)] = resources[u(child)]
        index = child
        child = 2 * index + 1
    shares[u(index)] = share
    resources[u(index)] = resource


@helper(_nrt=False)
def _set_rates(flow, resource, share):
    """Make a resource the bottleneck of its affected members that have no new rate yet."""
    epoch = np.int32(flow.ints[at.EPOCH])
    first_member = flow.resources[u(resource)].first_member
    for member in range(first_member, first_member + flow.resources[u(resource)].num_members):
        bundle = flow.members[u(member)].bundle
        if flow.bundles[u(bundle)].epoch != epoch or flow.bundles[u(bundle)].new_rate >= 0.0:
            continue
        flow.bundles[u(bundle)].new_rate = share
        flow.bundles[u(bundle)].new_bottleneck = resource
        row = flow.bundles[u(bundle)]
        for crossing in range(row.first_crossing, row.first_crossing + row.num_crossings):
            crossed = flow.crossings[u(crossing)].resource
            flow.resources[u(crossed)].free_capacity -= share * row.num_messages
            flow.resources[u(crossed)].unfilled_messages -= row.num_messages
            # shares never fall during a filling, so the last one is the largest
            flow.resources[u(crossed)].fastest_affected = share


@helper(_nrt=False)
def _fill(flow, num_bundles, num_resources):
    """Give new rates to the affected bundles by progressive filling.

    Return the number of affected bundles. If it has grown, the filling must be repeated, because
    the added bundles have got no new rate.
    """
    shares, resources = flow.share_heap, flow.share_resource
    # 1. A heap of the resources by the share that each can give to a message without a new rate.
    #    `unfilled_messages` is not 0: at least one affected bundle crosses each of these resources.
    for k in range(num_bundles):
        flow.bundles[u(flow.affected_bundles[u(k)])].new_rate = -1.0
    size, new_num_bundles = num_resources, num_bundles
    for k in range(num_resources):
        resource = flow.affected_resources[u(k)]
        row = flow.resources[u(resource)]
        shares[u(k)] = row.free_capacity / row.unfilled_messages
        resources[u(k)] = resource
    for k in range((size >> 1) - 1, -1, -1):
        _sift_down(flow, k, size)
    # 2. The resource with the smallest share is full first, so it is the bottleneck of its bundles.
    filled_share = 0.0
    while size > 0:
        resource = resources[0]
        unfilled = flow.resources[u(resource)].unfilled_messages
        if unfilled > 0:
            share = max(flow.resources[u(resource)].free_capacity, 0.0) / unfilled
            # Other resources have since become the bottleneck of some of its bundles, which leave
            # more to the rest: sort it in again with its larger share.
            if share > shares[0] * (1.0 + at.TOLERANCE):
                shares[0] = share
                _sift_down(flow, 0, size)
                continue
            # On a bottleneck no bundle may be faster than those that it limits, so fixed bundles
            # with a larger rate become affected.
            if flow.resources[u(resource)].fastest_fixed > share * (1.0 + at.TOLERANCE):
                new_num_bundles = _add_bottlenecked_or_faster(
                    flow, resource, share, new_num_bundles
                )
            # Progressive filling only raises shares: a smaller one is a rounding error.
            filled_share = max(filled_share, share)
            _set_rates(flow, resource, filled_share)
        # Remove the resource from the heap: the last entry takes its place and moves down.
        size -= 1
        shares[0] = shares[u(size)]
        resources[0] = resources[u(size)]
        _sift_down(flow, 0, size)
    return new_num_bundles


@helper(_nrt=False)
def _add_without_bottleneck(flow, num_bundles, num_resources):
    """Make fixed bundles affected that have lost their bottleneck: step 3 of the computation.

    A resource is no longer a bottleneck if it is not full, or if an affected bundle is now faster
    on it than the fixed bundles. Return the number of affected bundles.
    """
    for k in range(num_resources):
        row = flow.resources[u(flow.affected_resources[u(k)])]
        if row.fixed_bottlenecked > 0 and (
            row.free_capacity > row.capacity * at.TOLERANCE
            or row.fastest_affected > row.fastest_fixed * (1.0 + at.TOLERANCE)
        ):
            num_bundles = _add_bottlenecked_or_faster(
                flow, flow.affected_resources[u(k)], at.NEVER, num_bundles
            )
    return num_bundles


@helper(_nrt=False)
def recompute_shares(flow):
    """Recompute the shares that the changes since the last call can affect.

    Updated are `new_rate` and `new_bottleneck` of the bundles in `affected_bundles`. Return their
    number.
    """
    flow.ints[at.EPOCH] += 1
    num_bundles = _add_changed(flow)
    if num_bundles == 0:
        return 0
    flow.ints[at.SHARE_COMPUTATIONS] += 1
    # `num_collected`: affected bundles whose resources are already in `affected_resources`
    num_collected, num_resources, tries = 0, 0, 0
    while num_collected < num_bundles:
        tries += 1
        # The first tries list only the resources of bundles that the last one has added. Later ones
        # begin again with the first bundle, to add all bundles that bottlenecks can reach.
        transitive = tries > at.LOCAL_TRIES
        num_bundles, num_resources = _collect_resources(
            flow, 0 if transitive else num_collected, num_bundles, num_resources, transitive
        )
        flow.ints[at.COMPUTED_SHARES] += num_bundles
        _reset_resources(flow, num_resources)
        num_collected = num_bundles
        num_bundles = _add_without_bottleneck(
            flow, _fill(flow, num_bundles, num_resources), num_resources
        )
    return num_bundles
