# The page of a study: its tables and figures, next to published numbers and bounds.
rule page:
    input:
        lambda wildcards: plan.manifests(study_plan(wildcards)),
        files=lambda wildcards: study_plan(wildcards).inputs,
    output:
        report("results/report/{study}/index.html", category="Pages", labels={"study": "{study}"}),
    log:
        "results/logs/report/{study}.log",
    # a report takes long and nothing waits for it: start it while other studies still run
    priority: 100000
    retries: 0
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        study=lambda wildcards: str(study_plan(wildcards).study.path),
        fingerprint=lambda wildcards: study_plan(wildcards).fingerprint,
        folder=subpath(output[0], parent=True),
        cluster=lambda wildcards: study_plan(wildcards).study.cluster,
    shell:
        "NUMBA_NUM_THREADS={threads} exec routelab report {params.study:q} --cluster={params.cluster:q}"
        " --results results -o {params.folder:q} --keep-going > {log:q} 2>&1"


# The list of all pages, with the answer of each, and the table of their values.
rule index:
    input:
        expand("results/report/{study}/index.html", study=list(studies)),
    output:
        report("results/report/index.html", category="Index"),
        "results/report/values.html",
    log:
        "results/logs/report.log",
    retries: 0
    conda:
        "../envs/routelab.yaml"
    threads: 1
    shell:
        "NUMBA_NUM_THREADS={threads} exec routelab report --index --results results > {log:q} 2>&1"


# Figures as PNG and PDF, beside the SVG of the pages. Draws them all anew whenever it is named.
rule figures:
    input:
        expand("results/report/{study}/index.html", study=list(studies)),
    log:
        "results/logs/figures.log",
    retries: 0
    conda:
        "../envs/routelab.yaml"
    threads: 1
    params:
        studies=[str(study_plan.study.path) for study_plan in studies.values()],
        cluster=config.get("cluster", ""),
    shell:
        'for study in {params.studies:q}; do NUMBA_NUM_THREADS={threads} routelab report "$study"'
        " --cluster={params.cluster:q} --results results --also pdf,png --keep-going; done > {log:q} 2>&1"


# Batches are targets, too: Snakemake does not make a missing file anew while what was made from
# it is still there.
rule report:
    input:
        # a function: it is called after the workflow has skipped finished comparisons
        lambda wildcards: plan.manifests(),
        expand("results/report/{study}/index.html", study=list(studies)),
        "results/report/index.html",
