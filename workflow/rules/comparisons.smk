# All benchmarks under all routings on one network are one job: one allocation, in which
# `routelab bench` goes through the rounds. Raw runs are kept in results/bench/runs, of which Snakemake
# knows nothing: a comparison that was cut off does what is missing.
#
# The resources are those of the Slurm executor; elsewhere only `fabric` counts.
# - fabric: profiles/default has one of it, so that no two comparisons meet on a network.
# - tasks and --ntasks-per-node: sbatch takes as many nodes as there are tasks, whatever `nodes` says.
# - mpi: that it is there, though it is nothing, lets the job begin without srun. The benchmarks are
#   steps of their own, and would share the first node with a step that waits for them.
# - mem_mb: 0 asks for none, as nodes are exclusive; by default Snakemake asks for 1 GB and more.
# - a resource that is None is not asked for; then the executor's own default counts.
# - apply_routing: whether a fabric may be switched. As a parameter it would have everything measured
#   again that was measured with it, as soon as it is left out.
rule comparisons:
    input:
        lambda wildcards: plan.manifests_before(batch(wildcards, "comparisons")),
        files=lambda wildcards: comparison(wildcards).inputs,
    output:
        "results/batches/comparisons/{batch}.json",
    log:
        "results/logs/comparisons/{batch}.log",
    benchmark:
        "results/benchmarks/comparisons/{batch}.tsv"
    conda:
        "../envs/routelab.yaml"
    # What is measured on this machine would be disturbed by any other job: it takes all cores.
    # Where the benchmarks run elsewhere, this process only waits for them.
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
        apply_routing=apply_option(config),
    params:
        spec=lambda wildcards: plan.spec(batch(wildcards, "comparisons")),
        fingerprint=lambda wildcards: batch(wildcards, "comparisons").fingerprint,
    shell:
        "NUMBA_NUM_THREADS=1 routelab bench --comparison {params.spec:q}"
        " -o {output:q} {resources.apply_routing} > {log:q} 2>&1"
