"""A binary heap: ``heap[0]`` is the item with the smallest priority.

``heap[:size]`` holds the items, and ``priority[item]`` their priorities.
"""

from routelab.kernels.jit import helper


@helper()
def push(heap, size, priority, item):
    """Add an item to the heap; return the heap's new size."""
    position = size
    while position > 0:
        parent = (position - 1) // 2
        if priority[heap[parent]] <= priority[item]:
            break
        heap[position] = heap[parent]
        position = parent
    heap[position] = item
    return size + 1


@helper()
def pop(heap, size, priority):
    """Remove the item ``heap[0]``; return the heap's new size. Read the item before the call."""
    size -= 1
    item = heap[size]
    position = 0
    while 2 * position + 1 < size:
        child = 2 * position + 1
        if child + 1 < size and priority[heap[child + 1]] < priority[heap[child]]:
            child += 1
        if priority[item] <= priority[heap[child]]:
            break
        heap[position] = heap[child]
        position = child
    heap[position] = item
    return size
