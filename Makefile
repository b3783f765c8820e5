# Two commands matter: `make run` and `make test`. Everything they need is made on the way.

# The first Python here that runs and is new enough; a name on the PATH may be a shim without a version behind it.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && exit; done; echo python3)
VENV := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help run test check bench soak clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 8
	@echo "make run takes its settings from the environment, for example: PORT=8001 DATA_DIR=/srv/brain make run"

run: ## Serve web and worker with demo data until Ctrl-C
	@$(PYTHON) -m scripts.venv
	@exec $(VENV) manage.py run

test: ## Run every test on SQLite, and on PostgreSQL all that the database may change
	@$(PYTHON) -m scripts.venv --dev
	@exec $(VENV) -m scripts.test

check: ## Lint, types, import rules, migrations, system checks, known vulnerabilities
	@$(PYTHON) -m scripts.venv --dev
	@exec $(VENV) -m scripts.check

bench: ## Measure what must stay fast as the store grows
	@$(PYTHON) -m scripts.venv --dev
	@set -e; for file in benchmarks/[a-z]*.py; do grep -q __main__ $$file || continue; $(VENV) -m benchmarks.$$(basename $$file .py) --quick; done

soak: ## Run what takes minutes (concurrency, random requests) and properties on other examples, on both databases
	@$(PYTHON) -m scripts.venv --dev
	@exec $(VENV) -m scripts.test -m "soak or hypothesis"

clean: ## Remove what can be made again; your data in var stays
	rm -rf .venv build htmlcov .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
