rule topology:
    input:
        lambda wildcards: topology_job(wildcards).inputs,
    output:
        "results/topologies/{topology}/outcome.json",
    log:
        "results/logs/topologies/{topology}.log",
    benchmark:
        "results/benchmarks/topologies/{topology}.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        text=lambda wildcards: topology_job(wildcards).text,
        fingerprint=lambda wildcards: topology_job(wildcards).fingerprint,
        folder=subpath(output[0], parent=True),
    shell:
        "NUMBA_NUM_THREADS={threads} routelab topology {params.text:q}"
        " -o {params.folder:q} --fingerprint {params.fingerprint}"
        " --keep-going > {log:q} 2>&1"
