# A workload on one network with one routing and one set of settings is one job of one thread. As for
# simulations of packets, it needs the network only.
rule flows:
    input:
        lambda wildcards: plan.manifests_of_networks(batch("flows")(wildcards)),
        files=lambda wildcards: batch("flows")(wildcards).inputs,
    output:
        "results/batches/flows/{batch}.json",
    log:
        "results/logs/flows/{batch}.log",
    benchmark:
        "results/benchmarks/flows/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch("flows")(wildcards)),
        fingerprint=lambda wildcards: batch("flows")(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab simulate --batch {params.spec:q}"
        " -o {output:q} > {log:q} 2>&1"
