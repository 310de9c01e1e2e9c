# The tasks of umtslab: `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := python/umtslab/_core.abi3.so
# Made whether the page could be built or not, so that a machine without npm tries once.
PAGE   := $(VENV)/page
DEMO   := results/demo

RUST_SOURCES := $(shell find crates -path '*/src/*.rs' -o -name build.rs -o -name fingerprint.rs -o -name Cargo.toml -o -name abi3-py311.txt)
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -not -path web/src/api/schema.d.ts -print)
CARGO_FLAGS  := --release --locked --workspace
# With assertions and checks of overflow.
TEST_FLAGS   := --profile checked --locked --workspace

# These tests have limits of their own. A dump of a stack that moves can end the process.
NO_DUMP := -o faulthandler_timeout=0

# The parts of `make test`, in their order.
PARTS := lint test-rust test-python
# The parts of `make check`.
CHECKS := check-lint check-rust check-python
# The tests that libraries decide about.
LOWEST := $(foreach part,command_line compare docs export latex notebook plot plot_campaign plot_look query \
	store studies tables,tests/python/test_$(part).py)
# Seconds after which tests that still run are taken to hang, and fail.
RUST_LIMIT   := 1800
PYTHON_LIMIT := 2700

# How cargo links and runs programs for aarch64 on another machine.
AARCH64 := CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"

# maturin and pip install into this environment, whichever one the shell is in.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
unexport CONDA_PREFIX
unexport PYTHONPATH
unexport UMTS_OUT

.DEFAULT_GOAL := help
.PHONY: help demo test check check-lint check-rust check-python check-targets setup dev page lint test-rust test-python lowest pictures golden golden-aarch64 soak \
	fuzz bench dist counts oracle-ns2 format docs man lint-forge deny release-check release-notes clean

help: ## List the tasks.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## Two FTP users on one FACH, as 3GPP has it and as a study had it: results, figures and captures.
	@rm -rf $(DEMO)
	@echo "A second FTP user joins a FACH of 32 kbit/s at 1,500 s, scheduled as in 3GPP:"
	$(BIN)/umts run scenarios/ftp-on-fach-two-users-3gpp.toml --duration "1600 s" --series --pcap --waterfall 1 --out $(DEMO)
	@echo "Its first seconds, from TCP down to the PDUs, and the round trips of both:"
	$(BIN)/umts plot $(DEMO) waterfall --from 1500 --until 1506
	$(BIN)/umts plot $(DEMO) rtt
	@echo "RLC repairs each lost PDU within about 0.1 s, so TCP loses no segment. MAC-c serves both users in turn. The timer of the"
	@echo "new connection expires twice before it has measured the longer round trips: seven segments are sent again although they"
	@echo "were not lost (unneeded retransmissions). Then each user has half of the channel."
	@echo
	@echo "The same two users in the simulator of Dubois (2005), whose RNC pushes all blocks at the full rate into a queue of nine:"
	$(BIN)/umts run scenarios/ftp-on-fach-two-users.toml --series --out $(DEMO)
	@echo "User 1 when a second user arrives, as in Dubois (2005), Figures 6.1 and 6.3:"
	$(BIN)/umts plot $(DEMO) outstanding
	$(BIN)/umts plot $(DEMO) rtt
	@echo "Half of the blocks that cross the Iub find that queue full (fach_queue_drops). RLC sends each PDU more than twice, and a"
	@echo "fifth of the capacity is lost. This is a property of that simulator, not of UMTS."

test: ## Check formats, lints and types, run the Rust and the Python tests, and say how long each took.
	@MAKE="$(MAKE)" tools/timed $(PARTS)

check: ## A first look at a change, in two or three minutes: formats, layers, types, Rust unit tests, the quick Python tests.
	@MAKE="$(MAKE)" tools/timed $(CHECKS)

check-lint: setup
	cargo fmt --all --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

check-rust:
	cargo test $(TEST_FLAGS) --lib --no-run
	tools/within $(RUST_LIMIT) cargo test $(TEST_FLAGS) --lib --quiet

check-python: setup
	tools/within $(PYTHON_LIMIT) $(BIN)/pytest -m "not slow" --quiet

setup: $(CORE) $(PAGE) ## Make .venv and build the package into it: leaves .venv/bin/umts. Builds the page of `umts serve` where npm can.

dev: $(BIN)/umts ## Build the extension unoptimised, for a quick try of a change in crates/; `make setup` puts the optimised one back.
	cargo build --locked --package umts-bindings
	install -m 755 target/debug/lib_core.so $(CORE)
	@touch -d @0 $(CORE)  # older than the sources, so that `make setup` builds anew

page: $(CORE) ## Build the page of `umts serve` again, and say why if that is not possible.
	@rm -f $(PAGE)
	@$(MAKE) --no-print-directory $(PAGE)
	@test -f python/umtslab/serve/page/index.html

lint: setup ## Check formats, lints, layers, types and wording without running a test.
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest umtslab._core
	$(BIN)/python tools/wording/check.py

lint-forge: setup $(VENV)/site-packages ## Check the workflows in .github, with actionlint too where it is installed.
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@if command -v actionlint >/dev/null; then actionlint; else echo "actionlint is not installed: its checks are left out"; fi

check-targets: ## Compile the Rust code of the package for macOS and Windows, without C code, linking or tests.
	tools/check-targets

deny: ## Check licences, advisories and sources of all Rust dependencies. Needs cargo-deny.
	cargo deny --locked check

test-rust: ## Run the Rust tests, with assertions and checks of overflow.
	cargo test $(TEST_FLAGS) --no-run
	tools/within $(RUST_LIMIT) cargo test $(TEST_FLAGS) --no-fail-fast

test-python: setup $(VENV)/site-packages ## Run the Python tests, the wheel in a clean environment among them: on all cores, those of the wall clock in twos, the rest alone.
	tools/install-tshark
	tools/install-chromium
	tools/within $(PYTHON_LIMIT) $(BIN)/pytest -m "not (alone or wall_clock)" --numprocesses auto --dist loadfile
	tools/within $(PYTHON_LIMIT) $(BIN)/pytest -m wall_clock --numprocesses 2 --dist loadfile
	tools/within $(PYTHON_LIMIT) $(BIN)/pytest -m alone

lowest: setup ## Run the tests of data, figures and studies with the lowest versions that the package allows.
	"$(PYTHON)" -m venv --clear .venv-lowest
	.venv-lowest/bin/pip install --requirement constraints-lowest.txt \
		$$(grep -E '^(hypothesis|pytest|pytest-timeout)==' constraints.txt)
	PYTHONPATH="$(CURDIR)/python" .venv-lowest/bin/python -m pytest $(LOWEST)

pictures: setup ## Draw the pictures of docs/ anew, from runs.
	$(BIN)/python docs/pictures/draw.py

docs: setup $(VENV)/site-packages ## Build the documentation site, strictly, into target/site/html: pages, reference, gallery.
	$(BIN)/python tools/site/build.py

man: setup ## Write the manual pages of umts and its verbs into target/man/man1.
	$(BIN)/python tools/man_pages.py target/man/man1

golden: ## Run every scenario, or those in NAMES, and compare to the bit with tests/golden, as `test` does; UMTS_BLESS=1 blesses what differs.
	@cargo run --release --locked --quiet --package umts-golden -- $(NAMES)

golden-aarch64: ## As golden, with a program for aarch64 that qemu-user runs; NAMES as there. Installs the cross compiler and qemu as root on Debian.
	tools/install-aarch64
	@$(AARCH64) cargo run --release --locked --quiet --target aarch64-unknown-linux-gnu --package umts-golden -- $(NAMES)

oracle-ns2: ## Replay the ns-2 runs of DIR (runs.json and its event files) and compare; OUT= writes our event files.
	@test -n "$(DIR)" || { echo "usage: make oracle-ns2 DIR=folder [OUT=folder]"; exit 2; }
	@cargo run --release --locked --quiet --package umts-oracle-ns2 -- "$(DIR)" $(if $(OUT),"$(OUT)")

soak: setup ## Kill campaigns and workers a hundred times, emulations and proxies fifty, at random moments; KILLS= says how many. Damage 5,000 files of stores, load a proxy with 10,000 connections (CONNECTIONS) and a million short ones (SHORT).
	UMTS_KILLS=$(or $(KILLS),100) $(BIN)/pytest $(NO_DUMP) tests/python/test_kills.py
	UMTS_KILLS=$(or $(KILLS),50) $(BIN)/pytest $(NO_DUMP) tests/python/test_emulate_kills.py
	UMTS_KILLS=$(or $(KILLS),50) $(BIN)/pytest $(NO_DUMP) tests/python/test_proxy_transparent.py -k whenever
	UMTS_CONNECTIONS=$(or $(CONNECTIONS),10000) UMTS_SHORT=$(or $(SHORT),1000000) \
		$(BIN)/pytest $(NO_DUMP) tests/python/test_proxy_load.py
	UMTS_DAMAGE=$(or $(DAMAGE),5000) $(BIN)/pytest $(NO_DUMP) tests/python/test_store_damage.py -k random

fuzz: ## Fuzz the decoders, RLC's procedures and scenario files for SECONDS (120) from execution SEED (1) on.
	@cargo run --profile checked --locked --quiet --package umts-fuzz -- --seconds $(or $(SECONDS),120) --seed $(or $(SEED),1)

bench: setup ## Measure instructions, time and memory, beside ns-2 and tcptrace where they are installed: one table; nothing passes or fails.
	$(BIN)/python benches/all.py $(BENCHES)

dist: setup ## Make the wheel for users in dist/, profile-guided: some ten minutes on two cores. Needs llvm-profdata.
	tools/dist

release-check: setup ## Check versions, dates and changelog of a release, and that two builds of the wheel are equal to the byte.
	$(BIN)/python tools/release_check.py --builds

release-notes: ## Print the newest section of the changelog.
	@"$(PYTHON)" tools/release_check.py --notes

counts: setup ## Print the instructions of four networks beside those of the versions before; nothing passes or fails.
	@$(BIN)/python benches/instructions.py --quick

format: setup ## Format all sources.
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove whatever the other tasks built: .venv, the extension, target, results.
	rm -rf $(VENV) $(CORE) python/umtslab/serve/page web/node_modules web/src/api/schema.d.ts target dist results .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(PAGE): $(PAGE_SOURCES) tools/build-page $(VENV)/packages
	@tools/build-page $(BIN)/python
	@touch $@

$(BIN)/python:
	tools/check-toolchain $(PYTHON)
	tools/make-venv $(PYTHON) $(VENV)

$(VENV)/packages: constraints.txt | $(BIN)/python
	@echo "Installing the Python packages of constraints.txt into $(VENV)"
	$(BIN)/python -m pip install --requirement constraints.txt
	@touch $@

$(VENV)/site-packages: constraints-site.txt | $(VENV)/packages
	@echo "Installing the Python packages of constraints-site.txt into $(VENV)"
	$(BIN)/python -m pip install --constraint constraints.txt --requirement constraints-site.txt
	@touch $@

$(BIN)/umts: | $(VENV)/packages
	$(BIN)/maturin develop --locked

$(CORE): $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml .cargo/config.toml $(VENV)/packages
	$(BIN)/maturin develop --release --locked
	@touch $@
