"""A binary heap of items, the one with the smallest priority first."""

from routelab.kernels.jit import helper


@helper()
def push(heap, size, priority, item):
    """Put an item on the heap; return its new size."""
    at = size
    while at > 0:
        up = (at - 1) // 2
        if priority[heap[up]] <= priority[item]:
            break
        heap[at] = heap[up]
        at = up
    heap[at] = item
    return size + 1


@helper()
def pop(heap, size, priority):
    """Take the first item off the heap; return its new size."""
    size -= 1
    item = heap[size]
    at = 0
    while 2 * at + 1 < size:
        down = 2 * at + 1
        if down + 1 < size and priority[heap[down + 1]] < priority[heap[down]]:
            down += 1
        if priority[item] <= priority[heap[down]]:
            break
        heap[at] = heap[down]
        at = down
    heap[at] = item
    return size
