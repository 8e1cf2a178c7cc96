"""A public benchmark of lossless routing, in the folder ``instances`` of the repository."""
