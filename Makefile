# Everything is built from a bare python3, in .venv; the stamps make a second run quick.
#
#   make demo       install the package and answer the README's question
#   make test       lint, types, import floors, the default tests, and the quick notebooks
#   make test-rest  what that leaves out: slow tests, the plug-ins against the real Opacus and torch, the site in a browser
#   make test-all   both
#   make test-fast  only the default pytest run
#   make docs       the site, in build/site; a warning is an error
#   make support-matrix  print docs/support-matrix.md again
#   make test-floors  the default tests with the oldest packages that pyproject.toml allows, in an environment of their own
#   make bench      speed and width beside other accountants
#   make dist       a source archive and a wheel, checked, in dist
#   make clean      back to nothing

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# releases of Opacus that knew no accountants of others; its adapter is tested with them too
OLDER  := 1.4.0 1.5.4
OPACUS := $(foreach release,$(OLDER),$(abspath $(VENV))/older-opacus/$(release))

.DEFAULT_GOAL := test
# two recipes at once would install into one environment, and the workers of pytest take all cores
.NOTPARALLEL:
.PHONY: demo test test-rest test-all test-fast test-floors lint format docs support-matrix bench dist clean

demo: $(STAMPS)/package
	$(BIN)/logphi epsilon "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5

# `loadfile`: what the tests of a file share is made once, by one worker; files come in the order of conftest.py;
# one worker a core leaves nothing for the threads of the matrix products
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test: lint
	$(PYTEST) -m "not slow or notebook"

test-rest: export LOGPHI_OLDER_OPACUS = $(subst $(subst ,, ),:,$(OPACUS))
test-rest: $(STAMPS)/all
	$(PYTEST) -m "slow and not notebook"

test-all: test test-rest

test-fast: $(STAMPS)/dev
	$(PYTEST)

test-floors:
	$(PYTHON) -m venv --clear $(VENV)-floors
	$(VENV)-floors/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/floors.py > $(VENV)-floors/constraints.txt
	$(VENV)-floors/bin/python -m pip install --quiet --editable . --group dev --constraint $(VENV)-floors/constraints.txt
	OPENBLAS_NUM_THREADS=1 $(VENV)-floors/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --ignore tests/test_types.py

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMPS)/docs
	$(BIN)/python docs/site/build.py

support-matrix: $(STAMPS)/docs
	$(BIN)/python docs/support_matrix.py > docs/support-matrix.md

bench: $(STAMPS)/bench
	$(BIN)/python bench/run.py

dist: $(STAMPS)/dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# The pip that a new venv comes with may be older than dependency groups (25.1), so it is renewed first.
$(STAMPS)/venv:
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	mkdir -p $(STAMPS)
	touch $@

# The package itself is named in each install, so that the resolver sees its requirements together with the group's.
$(STAMPS)/package: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --editable .
	touch $@

$(STAMPS)/dev: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --editable . --group dev
	touch $(STAMPS)/package $@

$(STAMPS)/all: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --editable . --group all
	for release in $(OLDER); do \
	    $(PIP) install --quiet --no-deps --upgrade --target $(VENV)/older-opacus/$$release opacus==$$release || exit 1; \
	done
	touch $(STAMPS)/package $(STAMPS)/dev $(STAMPS)/docs $@

$(STAMPS)/docs: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --editable . --group docs
	touch $(STAMPS)/package $@

$(STAMPS)/dist: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --group dist
	touch $@

# autodp calls what SciPy 1.15 dropped; a Python that is newer than SciPy 1.13 goes without.
$(STAMPS)/bench: $(STAMPS)/venv pyproject.toml
	$(PIP) install --quiet --editable . --group bench
	-$(PIP) install --quiet --upgrade --target $(VENV)/older-scipy "scipy==1.13.1"
	touch $(STAMPS)/package $@

clean:
	rm -rf $(VENV) $(VENV)-floors build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
