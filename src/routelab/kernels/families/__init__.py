"""Compiled code that the hop-by-hop algorithms of one family of networks share."""
