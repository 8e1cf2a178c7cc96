"""SimGrid's SMPI as a second engine for workloads."""
