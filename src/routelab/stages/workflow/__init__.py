"""What Snakemake calls, and what a run of the workflow prints."""
