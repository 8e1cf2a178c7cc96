# One job contains many small runs of a survey. It stores each row in results/surveys/rows, which
# Snakemake does not track: an interrupted job continues with the missing rows.
rule surveys:
    input:
        lambda wildcards: batch(wildcards, "surveys").inputs,
    output:
        "results/surveys/{batch}.csv",
    log:
        "results/logs/surveys/{batch}.log",
    benchmark:
        "results/benchmarks/surveys/{batch}.tsv"
    priority: lambda wildcards: batch(wildcards, "surveys").priority
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch(wildcards, "surveys")),
        fingerprint=lambda wildcards: batch(wildcards, "surveys").fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab batch {params.spec:q} -o {output:q} > {log:q} 2>&1"
