# SPDX-License-Identifier: BSD-3-Clause
# The front door; Meson does the work.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD = build
# Debian's Meson, whatever else is first on PATH, since its Python has the modules that we install; elsewhere the one there is.
MESON ?= $(firstword $(wildcard /usr/bin/meson) meson)

.PHONY: all demo test bench install reproduce format lint clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/packages.sh build
	@$(MESON) setup $(BUILD) -Dtests=false --prefix=$(abspath $(PREFIX)) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

demo: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
	@tools/demo.sh $(BUILD)/cli/hunch

test:
	@tools/packages.sh build test
	@tools/test.sh

bench:
	@tools/packages.sh build bench
	@bench/run.sh

# Under an hour on two cores; finished runs are kept, and the next time it goes on from there.
reproduce: all
	@$(BUILD)/cli/hunch reproduce --out experiments/results --note "commit $$(git rev-parse --short HEAD)"

# The folder may have been set up for another prefix: by make demo, say.
install: $(BUILD)/build.ninja
	@$(MESON) configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD) --no-rebuild

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

lint:
	@tools/packages.sh build test ci
	@tools/lint.sh

clean:
	rm -rf build build-test build-double
