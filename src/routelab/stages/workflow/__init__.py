"""Functions that Snakemake calls, and the output of a run of the workflow."""
