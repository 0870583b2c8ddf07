# SPDX-License-Identifier: BSD-3-Clause
# The front door; Meson does the work.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD = build
# Debian's Meson, whatever else is first on PATH, since its Python has the modules that we install; elsewhere the one there is.
MESON ?= $(firstword $(wildcard /usr/bin/meson) meson)

.PHONY: all help demo test bench install reproduce format lint clean

all: $(BUILD)/build.ninja ## build the library and the tool into build/
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/packages.sh build
	@$(MESON) setup $(BUILD) -Dtests=false --prefix=$(abspath $(PREFIX)) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

# Targets say after "##" what they do; a test sees to it that each does.
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo "  make VARIABLE=...: PREFIX (/usr/local), DESTDIR, BUILD (build), MESON. CONTRIBUTING.md tells how to go on."

demo: $(BUILD)/build.ninja ## what one bit can do, in under a minute
	@ninja -C $(BUILD) --quiet
	@tools/demo.sh $(BUILD)/cli/hunch

test: ## every test there is, a few minutes
	@tools/packages.sh build test
	@tools/test.sh

bench: ## measure speed, write bench/RESULTS.md
	@tools/packages.sh build bench
	@bench/run.sh

# Under an hour on two cores; finished runs are kept, and the next time it goes on from there.
reproduce: all ## the papers' experiments, under an hour
	@$(BUILD)/cli/hunch reproduce --out experiments/results --note "commit $$(git rev-parse --short HEAD)"

# The folder may have been set up for another prefix: by make demo, say.
install: $(BUILD)/build.ninja ## install below PREFIX
	@$(MESON) configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD) --no-rebuild

format: ## lay out the C code with clang-format
	@clang-format -i $$(git ls-files '*.c' '*.h')

lint: ## format, static analysis, house rules
	@tools/packages.sh build test ci
	@tools/lint.sh

clean: ## remove the build folders
	rm -rf build build-test build-double
