"""What the plugins of one family of networks share."""
