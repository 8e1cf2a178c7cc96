# The stages of a study. A job is one process: it loads modules and kernels once, then works on a batch of
# the study's items (networks, route tables, ...), each under the study's limits. Finished items are
# skipped, so an interrupted batch continues where it was. `work` lists the items.


# Networks: switches, terminals and channels.
rule topologies:
    input:
        files=files("topologies"),
        work=work("topologies"),
    output:
        "results/{study}/batches/topologies/{batch}.json",
    log:
        "results/logs/topologies/{study}-{batch}.log",
    # long batches first
    priority: priority("topologies")
    conda:
        "../envs/routelab.yaml"
    threads: 1
    # for a cluster. If there is a resource `mpi`, even 0, a job of the Slurm executor starts without srun,
    # which would lose SLURM_CONF.
    resources:
        mem_mb=memory,
        runtime=runtime,
        mpi=0,
    shell:
        "NUMBA_NUM_THREADS={threads} exec routelab batch {input.work:q} -o {output:q} > {log:q} 2>&1"


# Route tables: which route each pair of terminals takes, and the proof that the table is free of deadlock.
use rule topologies as routes with:
    input:
        batches("topologies", before="routes"),
        files=files("routes"),
        work=work("routes"),
    output:
        "results/{study}/batches/routes/{batch}.json",
    log:
        "results/logs/routes/{study}-{batch}.log",
    priority: priority("routes")


# Metrics of route tables: lengths, loads of channels, diversity of routes, and what plugins add.
use rule topologies as metrics with:
    input:
        batches("topologies", before="metrics"),
        batches("routes", before="metrics"),
        files=files("metrics"),
        work=work("metrics"),
    output:
        "results/{study}/batches/metrics/{batch}.json",
    log:
        "results/logs/metrics/{study}-{batch}.log",
    priority: priority("metrics")


# Lower bounds of the largest channel load of any table under the rules of a routing.
use rule topologies as bounds with:
    input:
        batches("topologies", before="bounds"),
        files=files("bounds"),
        work=work("bounds"),
    output:
        "results/{study}/batches/bounds/{batch}.json",
    log:
        "results/logs/bounds/{study}-{batch}.log",
    priority: priority("bounds")


# Upper bounds of what any routing can deliver under a traffic pattern.
use rule topologies as throughput with:
    input:
        batches("topologies", before="throughput"),
        files=files("throughput"),
        work=work("throughput"),
    output:
        "results/{study}/batches/throughput/{batch}.json",
    log:
        "results/logs/throughput/{study}-{batch}.log",
    priority: priority("throughput")


# Packets under a routing and a traffic pattern: throughput and latency.
use rule topologies as simulations with:
    input:
        batches("topologies", before="simulations"),
        batches("routes", before="simulations"),
        files=files("simulations"),
        work=work("simulations"),
    output:
        "results/{study}/batches/simulations/{batch}.json",
    log:
        "results/logs/simulations/{study}-{batch}.log",
    priority: priority("simulations")


# Applications under a routing: run times by fair shares of channels.
use rule topologies as flows with:
    input:
        batches("topologies", before="flows"),
        batches("routes", before="flows"),
        files=files("flows"),
        work=work("flows"),
    output:
        "results/{study}/batches/flows/{batch}.json",
    log:
        "results/logs/flows/{study}-{batch}.log",
    priority: priority("flows")


# Surveys: many small networks with their routes, metrics and bounds, a row each. Rows are kept in
# results/<study>/surveys/rows, which Snakemake does not track.
use rule topologies as surveys with:
    input:
        files=files("surveys"),
        work=work("surveys"),
    output:
        "results/{study}/surveys/{batch}.csv",
    log:
        "results/logs/surveys/{study}-{batch}.log",
    priority: priority("surveys")
