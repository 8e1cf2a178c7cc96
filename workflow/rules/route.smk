# Routing, proof and metrics of one pair are one job: a process pays its imports once. The limits
# are resources, not params: raising one makes no result stale. They are text, as Snakemake rounds
# numbers.
rule route:
    input:
        lambda wildcards: route_job(wildcards).inputs,
        topology="results/topologies/{topology}/outcome.json",
    output:
        "results/routes/{topology}/{routing}/outcome.json",
    log:
        "results/logs/routes/{topology}/{routing}.log",
    benchmark:
        "results/benchmarks/routes/{topology}/{routing}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    resources:
        seconds=lambda wildcards: str(route_job(wildcards).limits.seconds),
        memory_gb=lambda wildcards: str(route_job(wildcards).limits.memory_gb),
    params:
        topology=subpath(input.topology, parent=True),
        text=lambda wildcards: route_job(wildcards).text,
        metrics=lambda wildcards: "+".join(route_job(wildcards).metrics),
        fingerprint=lambda wildcards: route_job(wildcards).fingerprint,
        folder=subpath(output[0], parent=True),
    shell:
        "NUMBA_NUM_THREADS={threads} routelab route {params.topology:q} {params.text:q}"
        " --metrics {params.metrics:q} -o {params.folder:q} --fingerprint {params.fingerprint}"
        " --seconds {resources.seconds} --memory-gb {resources.memory_gb}"
        " --keep-going > {log:q} 2>&1"
