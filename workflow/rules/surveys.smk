# Many small runs of a survey are one shard. Its rows are kept one by one in results/surveys/rows, of
# which Snakemake knows nothing: a shard that was interrupted does what is missing.
rule survey_shard:
    input:
        lambda wildcards: shard(wildcards).inputs,
    output:
        "results/surveys/{shard}.csv",
    log:
        "results/logs/surveys/{shard}.log",
    benchmark:
        "results/benchmarks/surveys/{shard}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.shard_spec(shard(wildcards)),
        fingerprint=lambda wildcards: shard(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab survey {params.spec:q} --results results"
        " -o {output:q} > {log:q} 2>&1"
