# Routes through a spanning tree, from network.csv alone: awk -f tree_routes.awk network.csv
#
# 1. Breadth-first search from the first switch, over channels that have an opposite one.
# 2. The route of a pair goes up to the first switch above both ends, then down. A route never goes
#    up after it went down, so no cycle of channels can wait: one virtual channel suffices.
#
# The last line is a comment with the largest load, for one terminal at each switch.

BEGIN { FS = "," }
/^#/ || NR == 1 { next }
{
    channel[$1, $2] = 1
    for (side = 1; side <= 2; side++)
        if (!($side in number)) { number[$side] = ++count; name[count] = $side }
    neighbors[$1] = neighbors[$1] $2 ","
}
END {
    root = name[1]; level[root] = 1; queue[1] = root; last = 1
    for (first = 1; first <= last; first++) {
        size = split(neighbors[queue[first]], near, ",")
        for (i = 1; i < size; i++)
            if (!(near[i] in level) && (near[i], queue[first]) in channel) {
                up[near[i]] = queue[first]
                level[near[i]] = level[queue[first]] + 1
                queue[++last] = near[i]
            }
    }
    print "source,target,switches"
    for (i = 1; i <= count; i++)
        for (j = 1; j <= count; j++)
            if (i != j) print name[i] "," name[j] hops(name[i], name[j])
    for (c in load) if (load[c] > most) most = load[c]
    print "# " most
}
function hops(from, to,    rising, falling) {
    while (from != to)
        if (level[from] >= level[to]) { load[from, up[from]]++; from = up[from]; rising = rising "," from }
        else { load[up[to], to]++; falling = "," to falling; to = up[to] }
    return rising falling
}
