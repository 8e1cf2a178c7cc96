# `make help` lists the targets. Every target installs what it needs in .venv, and does so again when
# pyproject.toml or constraints.txt changes. You need not activate the environment.
#
#   make report CORES=4                     at most four cores
#   make report ARGS="--config studies=x"   further arguments for Snakemake
#   make test   ARGS="-k torus -n 0"        further arguments for pytest; here also in one process
#   make report PYTHON=python3.13           the Python that .venv is made with

PYTHON ?= python3
CORES ?= $(shell nproc 2> /dev/null || echo 1)
ARGS ?=

# Dozens of processes import the same modules; with compiled files they start in half the time. A user
# who wants none beside sources sets PYTHONPYCACHEPREFIX.
unexport PYTHONDONTWRITEBYTECODE

# The tests of a file together: they share what was set up and compiled for them. In their order, as
# files with few tests are the slow ones and should not be the last.
PARALLEL := -n $(CORES) --dist loadfile --no-loadscope-reorder

VENV := .venv
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
CACHES := .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
MADE := build dist site $(CACHES)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- The main job ---------------------------------------------------------------------------

.PHONY: report
report: $(VENV)/installed ## Run the studies of config/config.yaml and build results/report/index.html
	$(RUN) snakemake --cores $(CORES) report $(ARGS)

.PHONY: results
results: $(VENV)/installed ## Run the published studies one after the other (hours), and make docs/results; STUDIES="a b"
	$(RUN) python docs/publish.py --run $(STUDIES)

# --- Work on routelab -----------------------------------------------------------------------

.PHONY: test
test: $(VENV)/installed-test ## Run the quick tests on all cores
	$(RUN) python -m pytest $(PARALLEL) $(ARGS)

.PHONY: test-all
test-all: $(VENV)/installed-test ## Run all tests, also the slow and thorough ones
	$(RUN) python -m pytest $(PARALLEL) --all $(ARGS)

# Repeats until something fails or the time is over; an interrupted pytest still ends its workers.
MINUTES := 60
.PHONY: fuzz
fuzz: $(VENV)/installed-test ## Try property tests with random cases for MINUTES=60
	$(RUN); export PATH; end=$$(($$(date +%s) + 60 * $(MINUTES))); \
	while left=$$((end - $$(date +%s))) && [ $$left -gt 0 ]; do \
		timeout --foreground --signal=INT --kill-after=300 $$left python -m pytest $(PARALLEL) -x \
			-m hypothesis --hypothesis-profile=fuzz $(ARGS) || { [ $$? -eq 124 ] || exit 1; }; \
	done

.PHONY: versions
versions: $(VENV)/installed-test ## Install wheel and sdist and run a small study; ARGS=--all: with every Python found
	$(RUN) python tests/packaging/versions.py $(ARGS)

.PHONY: check
check: $(VENV)/installed-check ## Lint, formatting, types, import layers, workflow, container, spelling
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) lint-imports --no-logo
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) snakemake --lint
	$(RUN) hadolint Containerfile
	$(RUN) codespell README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md Makefile config docs instances perf plugins profiles src workflow

.PHONY: format
format: $(VENV)/installed-check ## Format the sources as `make check` requires
	$(RUN) ruff check --fix .
	$(RUN) ruff format .
	$(RUN) snakefmt Snakefile workflow

.PHONY: schema
schema: $(VENV)/installed ## Update the schemas of study and cluster files
	$(RUN) routelab study schema --built-in -o config/schema/study.schema.json
	$(RUN) routelab cluster schema -o config/schema/cluster.schema.json

.PHONY: perf
perf: $(VENV)/installed-perf ## Measure speed
	$(RUN) python -m pytest perf $(ARGS)

.PHONY: scaling
scaling: $(VENV)/installed-perf ## Measure time and memory of routing up to 4,096 nodes; ARGS=--largest: 10,000
	$(RUN) python perf/scaling.py curves $(ARGS)

.PHONY: profile
profile: $(VENV)/installed-perf ## Measure the time of routing, proof and facts, stage by stage
	$(RUN) python perf/scaling.py profile $(ARGS)

.PHONY: docs
docs: $(VENV)/installed-docs ## Build the documentation in site/
	$(RUN) NO_MKDOCS_2_WARNING=1 mkdocs build --strict

.PHONY: pages
pages: $(VENV)/installed-test ## Update the generated pages of the documentation and their pictures
	$(RUN) python docs/generate.py --pictures

.PHONY: dev
dev: $(VENV)/installed-dev ## Install everything for working on routelab, and the pre-commit hooks
	$(RUN) pre-commit install

.PHONY: constraints
constraints: ## Pin the newest versions that fit together in constraints.txt
	rm -rf build/pins
	$(PYTHON) -m venv build/pins
	build/pins/bin/python -m pip install --quiet \
		hatchling editables --editable '.[dev]'
	{ grep '^#' constraints.txt; build/pins/bin/python -m pip freeze --exclude-editable; } \
		> build/constraints.txt
	mv build/constraints.txt constraints.txt

.PHONY: clean
clean: ## Remove builds and caches; keep .venv and results
	rm -rf $(MADE)
	find . \( -path ./$(VENV) -o -path ./results \) -prune -o \
		-name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove everything that was made, including .venv and results, but no measurements
	rm -rf $(VENV) .snakemake
	find results -mindepth 1 ! -name .gitkeep ! -path results/bench ! -path 'results/bench/*' -delete

# --- Set-up ---------------------------------------------------------------------------------

# An empty .venv, made once; a new Python needs `make distclean` or `rm -rf .venv`.
$(VENV)/made:
	@[ "$$(uname -s)" = Linux ] || { \
		echo "routelab: runs only on Linux, and this is $$(uname -s): use a Linux machine," \
			"a Linux container, or WSL2 on Windows" >&2; \
		exit 1; }
	@command -v $(PYTHON) > /dev/null || { \
		echo "routelab: no $(PYTHON) here; install python3, or name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "routelab: needs Python 3.11 or newer, $(PYTHON) is older;" \
			"name another: make PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2> /dev/null || { \
		echo "routelab: $(PYTHON) cannot make virtual environments;" \
			"install Debian's package python3-venv and try again" >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp for each set of extras: installed, installed-test, installed-check, ...
EXTRAS := test check perf docs browser dev
# pip takes the pins for what it installs from the first, for building from the second.
$(VENV)/instal%: export PIP_CONSTRAINT := constraints.txt
$(VENV)/instal%: export PIP_BUILD_CONSTRAINT := constraints.txt
$(VENV)/installed $(EXTRAS:%=$(VENV)/installed-%): pyproject.toml constraints.txt | $(VENV)/made
	@echo "Installing into $(VENV); the first time takes about a minute"
	@# compiled when imported: most modules never are
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--editable '.$(patsubst installed-%,[%],$(filter installed-%,$(notdir $@)))'
	@touch $@
