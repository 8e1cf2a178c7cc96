# Many jobs of one kind (networks, route tables, bounds, simulations, ...) are one batch, whose process
# pays its imports and kernels once. Inside it, every job has a process and limits of its own, and
# jobs that are done already are not done again. A new kind of job needs no rule of its own.
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
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        spec=lambda wildcards: plan.spec(batch(wildcards)),
        fingerprint=lambda wildcards: batch(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab batch {params.spec:q} -o {output:q} > {log:q} 2>&1"
