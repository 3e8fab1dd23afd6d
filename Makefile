# What cargo does not do: the library, the header, the installation and their checks.
#
# For another machine: make archive TARGET=thumbv7m-none-eabi AR=arm-none-eabi-ar CC=arm-none-eabi-gcc
# Every tool and directory below can be set in the same way.

TARGET ?=
# For a smaller libpodrank.a: some of the features kubernetes, steering and controller, or none. Without FEATURES, it has all.
# make archive FEATURES=kubernetes
empty :=
SMALLER := $(if $(filter undefined,$(origin FEATURES)),,-$(subst $(empty) ,-,$(strip order $(sort $(FEATURES)))))
CARGO ?= cargo
CARGO_TARGET_DIR ?= target
PYTHON ?= python3
NM ?= nm
READELF ?= readelf
INSTALL ?= install
LDCONFIG ?= ldconfig
PKG_CONFIG ?= pkg-config

DESTDIR ?=
PREFIX ?= /usr/local
INCLUDEDIR ?= $(PREFIX)/include
LIBDIR ?= $(PREFIX)/lib
# Users may move the installed files, so these name each other by relative paths.
INCLUDE := $(patsubst $(PREFIX)/%,%,$(INCLUDEDIR))
LIB := $(patsubst $(PREFIX)/%,%,$(LIBDIR))
$(if $(filter /%,$(INCLUDE) $(LIB)),$(error INCLUDEDIR and LIBDIR must be in PREFIX, which is "$(PREFIX)"))
PREFIX_FROM_LIB := $(subst $(empty) ,/,$(patsubst %,..,$(subst /, ,$(LIB))))

# Only this release makes the header, because each writes it a little differently.
CBINDGEN_VERSION := 0.29.4
HEADERS ?= include
MDBOOK_VERSION := 0.5.4
TOPICS := $(patsubst include/%,%,$(wildcard include/podrank/*.h))

# Each is written in one place and read from there.
VERSION := $(shell sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Without what follows the patch number, as in 1.2.3-rc.1.
ABI := $(shell sed -n 's/^\#define PODRANK_ABI //p' include/podrank.h)
URL := $(shell sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)

BUILD := $(CARGO_TARGET_DIR)$(TARGET:%=/%)
OUT := $(BUILD)/c$(SMALLER)
SOURCES := Cargo.toml Cargo.lock core/Cargo.toml ffi/Cargo.toml ffi/archive/Cargo.toml \
	$(shell find core/src ffi/src ffi/archive/src -name '*.rs')
# Without an operating system, there is little memory, so code is optimised for size...
OPT_LEVEL ?= $(if $(findstring -none,$(TARGET)),s)
# z calls functions of the compiler's runtime, which the archive does not have.
$(if $(filter-out s 2 3,$(OPT_LEVEL)),$(error OPT_LEVEL=$(OPT_LEVEL): use s, 2 or 3))
# ...and there are no shared libraries. One that lacks functions would not be ABI 1.
SHARED := $(if $(findstring -none,$(TARGET))$(SMALLER),,$(OUT)/libpodrank.so)
CHECKS := header abi freestanding second-rust vectors installed fetched sanitize quick-start
TARGETS := features needs budget firmware linux wasm build-only

# Where `make tools` puts what it installs.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
# For the scripts that the recipes run.
export AR CARGO CARGO_TARGET_DIR CC CXX NM OUT PKG_CONFIG PYTHON READELF TARGET

.PHONY: help archive header abi table examples install uninstall check-c targets needs budget tools fuzz-tools test test-all bench \
	instructions miri mutants cluster judge webhook web page-test book book-tools clean

help: ## prints this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

archive: $(OUT)/libpodrank.a $(SHARED) ## libpodrank.a and libpodrank.so, in target/c

# Cargo's archive has one object of this project, the result of link-time optimisation, and hundreds from the compiler's
# runtime. The object does not need those: ffi/check/freestanding.sh proves it.
$(OUT)/podrank.o: $(SOURCES)
	$(OPT_LEVEL:%=CARGO_PROFILE_ARCHIVE_OPT_LEVEL=%) $(CARGO) build --quiet --profile archive -p podrank-archive $(TARGET:%=--target %) \
		$(if $(SMALLER),--no-default-features --features "$(FEATURES)")
	@mkdir -p $(OUT)
	@object=$$($(AR) t $(BUILD)/archive/libpodrank.a | grep '^podrank[-.]'); \
	test "$$(echo "$$object" | wc -w)" = 1 || { echo "not one object of podrank in cargo's archive: $$object" >&2; exit 1; }; \
	$(AR) p $(BUILD)/archive/libpodrank.a "$$object" >$@.new
	@mv $@.new $@

# Deterministic, without times and owners: the same sources and compiler give the same bytes.
$(OUT)/libpodrank.a: $(OUT)/podrank.o
	@rm -f $@
	$(AR) rcsD $@ $<

# It has nothing to initialise, so it needs no startup files. The C library has the rest.
$(OUT)/libpodrank.so.$(ABI): $(OUT)/podrank.o
	$(CC) -shared -nostartfiles -Wl,-soname,libpodrank.so.$(ABI) -Wl,--no-undefined -Wl,-z,noexecstack $(LDFLAGS) \
		-o $@ $<

$(OUT)/libpodrank.so: $(OUT)/libpodrank.so.$(ABI)
	@ln -sf libpodrank.so.$(ABI) $@

header: ## include/, made from ffi/ by cbindgen
	@test "$$(cbindgen --version 2>&1)" = "cbindgen $(CBINDGEN_VERSION)" || { \
	echo "make header needs cbindgen $(CBINDGEN_VERSION): cargo install --locked cbindgen@$(CBINDGEN_VERSION)" >&2; exit 1; }
	@$(PYTHON) ffi/headers/make.py $(HEADERS)

abi: archive ## ffi/abi.txt, the list of what must not change; refuses to remove or change a line
	@ffi/check/abi.sh --write

table: $(OUT)/vectors_table.h # the vectors as a C header

$(OUT)/vectors_table.h: tests/vectors/c_table.py $(wildcard tests/vectors/*.json)
	@mkdir -p $(OUT)
	@$(PYTHON) tests/vectors/c_table.py >$@.new
	@mv $@.new $@

examples: archive ## builds and runs examples-c/
	@$(MAKE) --no-print-directory -C examples-c run

# The loader finds a shared library in its cache, which ldconfig makes from the directories that the loader searches.
ifeq ($(DESTDIR)$(if $(SHARED),,no),)
UPDATE_CACHE = @[ "$$(id -u)" != 0 ] || PATH="$$PATH:/sbin:/usr/sbin" $(LDCONFIG) || true
CHECK_CACHE = @PATH="$$PATH:/sbin:/usr/sbin" $(LDCONFIG) -p 2>/dev/null | grep -qF '$(LIBDIR)/libpodrank.so.$(ABI)' || { \
	echo "note: the loader does not find $(LIBDIR)/libpodrank.so.$(ABI) yet. Run ldconfig as root. If the loader"; \
	echo "      does not search that directory, link with -Wl,-rpath,$(LIBDIR) or statically with $(LIBDIR)/libpodrank.a."; }
endif

# For pkg-config and for CMake.
PACKAGE := pkgconfig/podrank.pc cmake/podrank/podrankConfig.cmake cmake/podrank/podrankConfigVersion.cmake

install: archive ## header, libraries and what pkg-config and CMake read, under DESTDIR and PREFIX
	$(INSTALL) -d $(DESTDIR)$(INCLUDEDIR)/podrank $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/podrank
	$(INSTALL) -m 644 include/podrank.h $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 include/podrank/*.h $(DESTDIR)$(INCLUDEDIR)/podrank
	$(INSTALL) -m 644 $(OUT)/libpodrank.a $(DESTDIR)$(LIBDIR)/libpodrank.a
ifneq ($(SHARED),)
	$(INSTALL) -m 755 $(OUT)/libpodrank.so.$(ABI) $(DESTDIR)$(LIBDIR)/libpodrank.so.$(ABI)
	ln -sf libpodrank.so.$(ABI) $(DESTDIR)$(LIBDIR)/libpodrank.so
endif
	@for file in $(PACKAGE); do \
		sed 's|@PREFIX_FROM_LIB@|$(PREFIX_FROM_LIB)|; s|@PREFIX_FROM_CMAKE@|../../$(PREFIX_FROM_LIB)|; s|@INCLUDE@|$(INCLUDE)|; s|@LIB@|$(LIB)|; s|@URL@|$(URL)|; s|@VERSION@|$(VERSION)|; s|@DROP_UNUSED@|-Wl,--gc-sections|' \
			"ffi/$${file##*/}.in" >"$(DESTDIR)$(LIBDIR)/$$file" && chmod 644 "$(DESTDIR)$(LIBDIR)/$$file" || exit 1; \
	done
	$(UPDATE_CACHE)
	$(CHECK_CACHE)

uninstall: ## removes what install put there, with the same DESTDIR and PREFIX
	rm -f $(DESTDIR)$(INCLUDEDIR)/podrank.h $(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(TOPICS)) $(DESTDIR)$(LIBDIR)/libpodrank.a $(DESTDIR)$(LIBDIR)/libpodrank.so \
		$(DESTDIR)$(LIBDIR)/libpodrank.so.$(ABI) $(PACKAGE:%=$(DESTDIR)$(LIBDIR)/%)
	-rmdir $(DESTDIR)$(INCLUDEDIR)/podrank $(DESTDIR)$(LIBDIR)/cmake/podrank
	$(UPDATE_CACHE)

check-c: archive ## checks what C users rely on: one line for each check in ffi/check
	@for check in $(CHECKS); do ffi/check/$$check.sh || exit 1; done

targets: archive ## tests the archive on other machines, emulated: ffi/targets
	@for target in $(TARGETS); do ffi/targets/$$target.sh || exit 1; done

needs: ## which functions the archive needs on each machine
	@ffi/targets/needs.sh

budget: ## how much of a Cortex-M3 the archive takes, function by function, against its budget
	@ffi/targets/budget.sh

tools: ## installs the tool that makes the header, cbindgen
	@test "$$(cbindgen --version 2>&1)" = "cbindgen $(CBINDGEN_VERSION)" || \
	$(CARGO) install --quiet --locked cbindgen@$(CBINDGEN_VERSION)

fuzz-tools: ## installs what fuzz/ needs, cargo-fuzz
	@command -v cargo-fuzz >/dev/null || $(CARGO) install --quiet --locked cargo-fuzz

test: ## what to run before a change is proposed; .ci/run installs what it needs on Debian
	@.ci/test

test-all: ## and other machines, fuzzing, a real control plane, many more cases; .ci/install all installs what it needs on Debian
	@.ci/test all

# As many pods as the largest race has; with fewer than all, nothing that is checked in changes.
MOST ?=
bench: ## races against other ways to decide: goals, ratios (about 5 minutes; with MOST=10000, 20 seconds)
	@$(CARGO) run --quiet --profile dist -p podrank-bench -- $(if $(MOST),$(CARGO_TARGET_DIR)/bench $(MOST),bench)

instructions: ## fails if a case takes over 5% more instructions than bench/instructions.txt says (needs valgrind)
	@bench/instructions.sh

# CI does not run it. Where rustup cannot get the component, a line says so.
miri: ## promises 2 to 5 of the header in an interpreter that sees undefined behavior (needs nightly's component miri)
	@if ! why=$$(rustup component add --toolchain nightly miri rust-src 2>&1); then \
		echo "miri: SKIPPED: no component miri: $$(echo "$$why" | tail -1)"; \
	else \
		rustup run nightly cargo miri test -p podrank-ffi --test c -- promise_2_ promise_3_ promise_4_ promise_5_; \
	fi

mutants: ## changes core line by line and checks that a test fails (needs cargo-mutants)
	$(CARGO) mutants -p podrank

cluster: ## gets etcd and builds kube-apiserver and kube-controller-manager, into a cache (the first time, 15 minutes)
	@judge/cluster/get

# Rounds FROM to N of a SEED.
N ?= 100
SEED ?= 1
FROM ?= 1
judge: cluster ## compares the preview with what the real controllers do, in N rounds (about 2 a second)
	@judge/cluster/judge $(N) $(SEED) $(FROM)

web: ## web/dist/index.html, the web app in one file (needs node and npm)
	@web/build.sh web/dist

# With PAGE=FILE, that web app instead of the one of these sources.
page-test: $(if $(PAGE),,web) ## tests the web app in headless Chromium and Firefox, beside the command line
	@$(CARGO) build --quiet -p kubectl-podrank
	@node --test web/test/*.test.mjs
	@BROWSER=firefox node --test web/test/page.test.mjs web/test/steering.test.mjs web/test/entry.test.mjs

book: ## target/book/html, the pages for users as a book (needs mdbook: make book-tools)
	@.ci/book

book-tools: ## installs the tool that makes the book, mdbook
	@test "$$(mdbook --version 2>&1)" = "mdbook v$(MDBOOK_VERSION)" || \
	$(CARGO) install --quiet --locked --no-default-features --features search mdbook@$(MDBOOK_VERSION)

webhook: cluster ## podrank-webhook on a real control plane (6 minutes; make -C webhook help lists more)
	@$(MAKE) --no-print-directory -C webhook e2e

clean: ## removes target/ and web/dist/
	$(CARGO) clean
	rm -rf web/dist
