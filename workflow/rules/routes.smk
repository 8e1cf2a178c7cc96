# Routing, proof and metrics of one pair are one job; many jobs are one batch, whose process pays
# its imports and kernels once. Inside it, jobs that are done already are not done again.
rule routes:
    input:
        lambda wildcards: plan.manifests_of_networks(batch("routes")(wildcards)),
        files=lambda wildcards: batch("routes")(wildcards).inputs,
    output:
        "results/batches/routes/{batch}.json",
    log:
        "results/logs/routes/{batch}.log",
    benchmark:
        "results/benchmarks/routes/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch("routes")(wildcards)),
        fingerprint=lambda wildcards: batch("routes")(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab route --batch {params.spec:q}"
        " -o {output:q} > {log:q} 2>&1"
