# Compiles the kernels once; many cold jobs would each compile all of them.
rule warm:
    output:
        "results/.cache/kernels.warm",
    log:
        "results/logs/warm.log",
    benchmark:
        "results/benchmarks/warm.tsv"
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        cache=kernel_cache(),
        routings=plan.kernel_users,
    shell:
        "NUMBA_NUM_THREADS={threads} routelab warm {params.routings:q} -o {output:q} > {log:q} 2>&1"
