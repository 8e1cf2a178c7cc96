"""The packet engine: routers, buffers and packets, cycle by cycle."""
