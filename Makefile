# Every target does one thing; `make` alone lists them.
SHELL := /bin/bash
PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := $(CURDIR)/.venv/bin
export UV_COMPILE_BYTECODE := 1
# where the machine forbids byte-code, each of the many processes would compile the whole tree again
export PYTHONDONTWRITEBYTECODE :=
export DBT_SEND_ANONYMOUS_USAGE_STATS := false
export DO_NOT_TRACK := 1
export GX_ANALYTICS_ENABLED := False

.DEFAULT_GOAL := help
.PHONY: help setup up test check fix bench laws days skill mutation docs clean fuzz faults visit examples lock spark spark-parity

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)$$/make \1|\2/' | column -t -s '|'

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Touchledger needs Python 3.11 or newer; name one with make PYTHON=...") if sys.version_info < (3, 11) else None'
	@test -x .boot/bin/uv || { $(PYTHON) -m venv .boot && .boot/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION); }
	@.boot/bin/uv venv --quiet --clear --python $(PYTHON) .venv
	@.boot/bin/uv pip sync --quiet --python $(BIN)/python requirements.lock
	@.boot/bin/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

setup: .venv/.ready  ## make the virtual environment from the locked packages

.spark/.ready: requirements-spark.lock | setup
	@.boot/bin/uv venv --quiet --clear --python $(PYTHON) .spark
	@.boot/bin/uv pip sync --quiet --python .spark/bin/python requirements-spark.lock
	@touch $@

spark: .spark/.ready  ## make the environment of Spark, which `touchledger build --target spark` runs (needs Java 17)

spark-parity: spark  ## the demo, a drawn history and a million touches on DuckDB and on a Spark cluster of two workers, row by row
	@$(BIN)/python -m benchmarks.spark_parity $(if $(TOUCHES),--touches $(TOUCHES))

up: setup  ## run the demo: sync, model, check, publish, then serve the API, Dagster and the docs
	@$(BIN)/touchledger up

# one worker more than cores: a third of a worker's time goes into waiting for disks, sockets and processes it started
test: setup  ## run the tests; what needs Postgres or Chromium is skipped where they are absent
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --ignore=tests/end_to_end/test_kills.py \
	  --deselect tests/api/test_conformance.py::test_answers_conform_to_the_document

check: setup  ## formatting, types, SQL lint, generated docs, contracts, OpenAPI, definitions
	@.ci/check $(if $(TESTED),--tested)

fix: setup  ## format the code and write the generated docs anew
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .
	@.ci/generate

.venv-bench/.ready: requirements-bench.lock .venv/.ready
	@.boot/bin/uv venv --quiet --clear --python $(BIN)/python .venv-bench
	@.boot/bin/uv pip sync --quiet --python .venv-bench/bin/python requirements-bench.lock
	@touch $@

bench: setup .venv-bench/.ready  ## measure credit beside its peers, builds, scores and the API (SIZES=1M,10M,50M STEPS=credit,build,...)
	@$(BIN)/python -m benchmarks $(if $(SIZES),--sizes $(SIZES)) $(if $(STEPS),--steps $(STEPS))

laws: setup  ## a million generated outcomes through the real models; prints by how many cents each law is broken
	@$(BIN)/python -m tests.laws.million

days: setup  ## drawn histories built day by day on what was kept, and whole beside it; prints tables that differ (WORLDS=5 CHANGES=0.15)
	@$(BIN)/python -m tests.laws.days --worlds $(or $(WORLDS),5) $(if $(CHANGES),--changes $(CHANGES))

skill: setup  ## how often the gate serves noise and withholds skill, over generated worlds (WORLDS=24)
	@$(BIN)/python -m tests.orchestration.ranking.skill --worlds $(or $(WORLDS),24)

mutation: setup  ## small slips in what models and doors decide: how many the tests see (SHARE=0.1 tries a tenth)
	@$(BIN)/python -m tests.mutation --share $(or $(SHARE),1)

docs: setup  ## build the dbt docs of the state folder and the generated pages
	@$(BIN)/touchledger docs
	@.ci/generate

examples: setup  ## record the requests, answers and refusals that the API's reference shows anew, from a demo
	@$(BIN)/python -m tests.recording

fuzz: setup  ## schemathesis at depth over every operation, what fits and what does not beside each other
	@printf '%s\0' positive 'not positive' | TOUCHLEDGER_FUZZ_EXAMPLES=100 xargs -0 -P 2 -I{} \
	  $(BIN)/python -m pytest --timeout 5400 -k {} tests/api/test_conformance.py

faults: setup  ## kill the build at random moments, more often than make check does (KILLS=40)
	@TOUCHLEDGER_KILLS=$(or $(KILLS),40) $(BIN)/python -m pytest tests/end_to_end/test_kills.py

visit: setup  ## a browser clicks on an ad, asks and buys; the next snapshot credits its campaign (needs Chromium)
	@$(BIN)/python -m tests.end_to_end.visit

lock:  ## resolve the pins of pyproject.toml into requirements.lock, those of the benchmarks' peers and of Spark beside it (hashed, name no index)
	@.boot/bin/uv pip compile pyproject.toml --extra postgres --group dev --universal --python-version 3.11 \
	  --generate-hashes --quiet -o requirements.lock
	@.boot/bin/uv pip compile --group bench --universal --python-version 3.11 \
	  --generate-hashes --quiet -o requirements-bench.lock
	@.boot/bin/uv pip compile --group spark --universal --python-version 3.11 \
	  --generate-hashes --quiet -o requirements-spark.lock

clean:  ## remove the environment, the state folder and every generated file
	@rm -rf .venv .venv-bench .boot .spark .touchledger .pytest_cache .mypy_cache .ruff_cache .hypothesis dbt_project/target dbt_project/logs *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
