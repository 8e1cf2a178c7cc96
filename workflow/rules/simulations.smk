# A simulation of one network, routing and traffic, with all its loads and seeds, is one job of one
# thread. It needs the network only: tables are made again, which is nothing beside the simulation.
rule simulations:
    input:
        lambda wildcards: plan.manifests_of_networks(batch("simulations")(wildcards)),
        files=lambda wildcards: batch("simulations")(wildcards).inputs,
    output:
        "results/batches/simulations/{batch}.json",
    log:
        "results/logs/simulations/{batch}.log",
    benchmark:
        "results/benchmarks/simulations/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch("simulations")(wildcards)),
        fingerprint=lambda wildcards: batch("simulations")(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab simulate --batch {params.spec:q}"
        " -o {output:q} > {log:q} 2>&1"
