# Each target is one command; run "make" to see them.

GO      ?= go
PREFIX  ?= /usr/local
PROGRAM ?= bin/git-domarkx

# Tests run what users run. Without cgo, the linker needs no help of a C compiler.
export CGO_ENABLED = 0

bindir   = $(DESTDIR)$(PREFIX)/bin
mandir   = $(DESTDIR)$(PREFIX)/share/man/man1
bashdir  = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir   = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir  = $(DESTDIR)$(PREFIX)/share/fish/vendor_conf.d

# A release names itself: make build RELEASE=v1.2.3
RELEASE ?=
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS  = -s -w -buildid= -X main.release=$(RELEASE) -X main.commit=$(COMMIT)

.PHONY: help build test test-short test-models test-sdks test-live test-formats test-hosts test-fresh test-release test-tools check lint test-agents generate pictures demo bench soak fuzz install install-files uninstall clean

help:
	@echo "make build      bin/git-domarkx"
	@echo "make test       everything is checked; installs the Debian packages that the tests drive"
	@echo "make test-short each package alone, in about two minutes: while you work"
	@echo "make test-models models are asked for real: a small one in llama.cpp's server, which is downloaded"
	@echo "make test-sdks  the SDKs of OpenAI and Anthropic decode the answers of the model server that the tests use"
	@echo "make test-formats the scripts again, with SHA-256 and reftable, under the Git of Debian sid, which is downloaded"
	@echo "make test-live  real providers, with the keys in your environment (MODELS=\"anthropic/MODEL …\")"
	@echo "make test-agents the coding agents themselves judge transcripts and are recorded, offline; installs them from npm into a cache (2 GB)"
	@echo "make test-hosts push, pull, merges and refusals with gitolite, nginx and git daemon, started for the tests; needs root"
	@echo "make test-fresh demo and test in a minimal Debian root, on a clone of HEAD; needs root or sudo"
	@echo "make test-release a release, twice with equal bytes; its packages are checked, and installed in a minimal Debian root; needs root or sudo"
	@echo "make demo       shows the whole job on a real session, in a scratch repository"
	@echo "make bench      speed, as ratios measured in one run"
	@echo "make soak       the suites of faults and of programs that run at once, for long (SOAK=10m)"
	@echo "make fuzz       every fuzz target (FUZZTIME=30s)"
	@echo "make lint       gofmt, vet, golangci-lint where it is installed"
	@echo "make pictures   the pictures in README, from real terminal sessions"
	@echo "make generate   help, manual pages and documentation from the command model"
	@echo "make install    program, manual pages and completions below PREFIX ($(PREFIX))"

build:
	$(GO) build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)" -o $(PROGRAM) ./git-domarkx

test:
	@$(MAKE) --no-print-directory -j2 test-tools check
	CI=true $(GO) test -trimpath -vet=off -timeout 45m -p $$(($$(nproc) + 1)) ./...

# What needs the whole program, kills it, or takes long is for "make test".
test-short:
	$(GO) test -trimpath -short $$($(GO) list ./... | grep -v /integration$$)

test-models:
	.ci/test-models

test-sdks:
	$(GO) -C git-domarkx/chat/provider/sdks test -trimpath -count 1 ./...

test-formats:
	.ci/test-formats

test-live:
	DOMARKX_TEST_LIVE="$(MODELS)" $(GO) test -trimpath -count 1 -run Live -v ./git-domarkx/chat

test-agents: build
	.ci/test-agents

test-hosts:
	.ci/test-hosts

test-fresh:
	.ci/test-fresh

test-release:
	.ci/test-release

test-tools:
	.ci/install-test-tools

check:
	.ci/check-source

lint: check
	.ci/golangci-lint

generate:
	$(GO) generate ./...

pictures: build
	.ci/make-pictures

demo: build
	.ci/demo bin/git-domarkx

bench: build
	-.ci/install-git bin/git-sid
	-.ci/install-test-tools fusermount3:fuse3 restic:restic
	-.ci/install-test-tools /usr/share/dict/american-english:wamerican /usr/share/dict/ngerman:wngerman \
		/usr/share/dict/french:wfrench /usr/share/dict/spanish:wspanish /usr/share/dict/italian:witalian
	CI=true $(GO) test -timeout 60m -run '^$$' -bench . -benchtime 1x ./integration/...

SOAK ?= 10m
soak: test-tools
	CI=true SOAK=$(SOAK) $(GO) test -timeout 0 -count 1 -run 'Soak|Fault|Company|Merge' ./integration/...
	SOAK=$(SOAK) $(GO) test -timeout 0 -count 1 -run 'Converge|^TestExpiredApart$$|^TestKill$$|^TestFilesSurviveRemounts$$' \
		./git-domarkx/engine/transfer ./git-domarkx/secrets/redact ./gitstore/refdb ./fusefs

FUZZTIME ?= 30s
fuzz:
	.ci/fuzz $(FUZZTIME)

install: build install-files

# Only puts in place what is built already.
install-files:
	install -d $(bindir) $(mandir) $(bashdir) $(zshdir) $(fishdir)
	install -m 755 $(PROGRAM) $(bindir)/git-domarkx
	install -m 644 git-domarkx/man/*.1 $(mandir)/
	install -m 644 git-domarkx/completion/git-domarkx.bash $(bashdir)/git-domarkx
	install -m 644 git-domarkx/completion/_git-domarkx $(zshdir)/_git-domarkx
	install -m 644 git-domarkx/completion/git-domarkx.fish $(fishdir)/git-domarkx.fish

uninstall:
	rm -f $(bindir)/git-domarkx $(bashdir)/git-domarkx $(zshdir)/_git-domarkx $(fishdir)/git-domarkx.fish
	rm -f $(mandir)/git-domarkx.1 $(mandir)/git-domarkx-*.1

clean:
	rm -rf bin
