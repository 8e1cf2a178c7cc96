# Many small runs of a survey are one job. Its rows are kept one by one in results/surveys/rows, of
# which Snakemake knows nothing: a job that was interrupted does what is missing.
rule surveys:
    input:
        lambda wildcards: batch(wildcards, "surveys").inputs,
    output:
        "results/surveys/{batch}.csv",
    log:
        "results/logs/surveys/{batch}.log",
    benchmark:
        "results/benchmarks/surveys/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch(wildcards, "surveys")),
        fingerprint=lambda wildcards: batch(wildcards, "surveys").fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab batch {params.spec:q} -o {output:q} > {log:q} 2>&1"
