"""Upper bounds of throughput for any routing, each with a certificate."""
