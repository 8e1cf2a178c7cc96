"""The reproducibility appendix of a paper, made from the provenance of a report."""
