# SPDX-License-Identifier: BSD-3-Clause
# Short commands; Meson does the work.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD = build

.PHONY: all help demo test bench install reproduce regenerate format lint clean

all: $(BUILD)/build.ninja ## build the library and the tool into build/
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/packages.sh build
	@tools/setup.sh $(BUILD) -Dtests=false --prefix=$(abspath $(PREFIX))

# The text after "##" describes a target; a test checks that each target has one.
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo "  make VARIABLE=...: PREFIX (/usr/local), DESTDIR, BUILD (build). CONTRIBUTING.md has more."

demo: $(BUILD)/build.ninja ## run a demo of one minute
	@ninja -C $(BUILD) --quiet
	@tools/demo.sh $(BUILD)/cli/hunch

test: ## run all tests: under eight minutes on two cores
	@tools/packages.sh build test
	@tools/test.sh

bench: ## measure speed, write bench/RESULTS.md
	@tools/packages.sh build bench
	@bench/run.sh

# Under an hour on two cores; finished runs are kept, and the next call continues.
reproduce: all ## the papers' experiments, under an hour
	@$(BUILD)/cli/hunch reproduce --out experiments/results --note "commit $$(git rev-parse --short HEAD)"

install: $(BUILD)/build.ninja ## install below PREFIX
	@DESTDIR=$(DESTDIR) tools/install.sh $(BUILD) $(abspath $(PREFIX))

regenerate: ## rewrite generated files: traces, tables, tutorials
	@tools/packages.sh build test
	@tools/regenerate.sh

format: ## lay out the C code with clang-format
	@clang-format -i $$(git ls-files '*.c' '*.h')

lint: ## check format, static analysis, house rules
	@tools/packages.sh build test ci
	@tools/lint.sh

clean: ## remove the build folders
	rm -rf build build-*
