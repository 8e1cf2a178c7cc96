# All benchmarks under all routings on one network are one job: one allocation, in which
# `routelab bench` runs all rounds. It stores raw runs in results/bench/runs, which Snakemake does not
# track: an interrupted comparison continues with the missing runs.
#
# The resources are those of the Slurm executor; elsewhere only `fabric` counts.
# - fabric: profiles/default has one, so that no two comparisons run on a network together.
# - tasks and --ntasks-per-node: sbatch takes as many nodes as there are tasks, whatever `nodes` says.
# - mpi: if this resource exists, even as 0, the job starts without srun. The benchmarks are separate
#   steps, and would share the first node with a step that waits for them.
# - mem_mb: 0 asks for none, as nodes are exclusive; by default Snakemake asks for 1 GB and more.
# - a resource that is None is not requested; then the executor's default applies.
# - apply_routing: whether a fabric may be switched. As a parameter, omitting it would repeat all
#   measurements that were made with it.
rule comparisons:
    input:
        measured("topologies"),
        measured("routes"),
        files=lambda wildcards: comparison(wildcards).inputs,
        work=lambda wildcards: comparison(wildcards).work,
    output:
        "results/bench/batches/{batch}.json",
    log:
        "results/logs/comparisons/{batch}.log",
    # --retries is for parts. A failed comparison is a result, and costs node-hours.
    retries: 0
    conda:
        "../envs/routelab.yaml"
    # A measurement on this machine takes all cores, because any other job would disturb it.
    # If the benchmarks run elsewhere, this process only waits for them.
    threads: lambda wildcards: workflow.cores if measures_here(wildcards) else 1
    resources:
        fabric=1,
        nodes=lambda wildcards: comparison(wildcards).nodes,
        tasks=lambda wildcards: comparison(wildcards).nodes,
        mpi=0,
        mem_mb=0,
        runtime=lambda wildcards: comparison(wildcards).minutes,
        slurm_partition=lambda wildcards: comparison(wildcards).partition or None,
        slurm_account=lambda wildcards: comparison(wildcards).account or None,
        slurm_extra=lambda wildcards: comparison(wildcards).slurm_extra,
        apply_routing=apply_routing_option(config),
    params:
        spec=lambda wildcards: comparison(wildcards).spec,
        fingerprint=lambda wildcards: comparison(wildcards).fingerprint,
    shell:
        "NUMBA_NUM_THREADS=1 exec routelab bench --comparison {params.spec:q}"
        " -o {output:q} {resources.apply_routing} > {log:q} 2>&1"
