"""From studies to items: plans, kinds of job, what Snakemake calls, and the output of a run."""
