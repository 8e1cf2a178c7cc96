"""Code that the plugins of one family of networks share."""
