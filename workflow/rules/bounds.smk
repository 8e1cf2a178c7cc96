# A bound belongs to a network and rules, whatever routings there are: they are jobs of their own,
# in batches like those of routings.
rule bounds:
    input:
        lambda wildcards: plan.manifests_of_networks(batch("bounds")(wildcards)),
        files=lambda wildcards: batch("bounds")(wildcards).inputs,
    output:
        "results/batches/bounds/{batch}.json",
    log:
        "results/logs/bounds/{batch}.log",
    benchmark:
        "results/benchmarks/bounds/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch("bounds")(wildcards)),
        fingerprint=lambda wildcards: batch("bounds")(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab bound --batch {params.spec:q}"
        " -o {output:q} > {log:q} 2>&1"
