"""The infiniband stage: check forwarding tables of a fabric, and what its failures would cost."""
