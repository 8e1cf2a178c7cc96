# A batch contains many jobs of one kind (networks, route tables, bounds, simulations, ...); its process
# loads modules and kernels once. Every job in it has a separate process with limits, and finished jobs
# are skipped. A new kind of job needs no additional rule.
rule batches:
    input:
        lambda wildcards: plan.manifests_before(batch(wildcards)),
        files=lambda wildcards: batch(wildcards).inputs,
    output:
        "results/batches/{kind}/{batch}.json",
    log:
        "results/logs/{kind}/{batch}.log",
    benchmark:
        "results/benchmarks/{kind}/{batch}.tsv"
    # long batches first
    priority: lambda wildcards: batch(wildcards).priority
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch(wildcards)),
        fingerprint=lambda wildcards: batch(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab batch {params.spec:q} -o {output:q} > {log:q} 2>&1"
