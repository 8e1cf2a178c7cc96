rule topologies:
    input:
        lambda wildcards: batch("topologies")(wildcards).inputs,
    output:
        "results/batches/topologies/{batch}.json",
    log:
        "results/logs/topologies/{batch}.log",
    benchmark:
        "results/benchmarks/topologies/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch("topologies")(wildcards)),
        fingerprint=lambda wildcards: batch("topologies")(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab topology --batch {params.spec:q}"
        " -o {output:q} > {log:q} 2>&1"
