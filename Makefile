.POSIX:
.PHONY: help run test test-long size test-plugin test-standins test-container e2e-openclaw e2e-agents e2e-mcp lint bench held chaos replay properties fuzz fuzz-short docs pictures vuln build dist

GOLANGCI    = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
TOXIPROXY   = github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0
GORELEASER  = github.com/goreleaser/goreleaser/v2@v2.15.1
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.1.4
ARGS        =
TRACE       =
FUZZTIME    = 5m
# Lines written since this commit have at most 120 columns.
ROUND       = 6ec121b3
SHORTTIME   = 1s
CHECKS      = 200
SEENTIME    = 10s
GALLERY     =
CHAOS       = -report docs/chaos.md
VERSION     =
# The servers that make bench compares with; off leaves them out.
OTHERS      =

# A build says the version by which its commit is tagged, or VERSION=v1.2.3 where
# there is no repository, as in a tarball. Go itself adds the commit.
TAG = v="$(VERSION)"; v=$${v:-$$(git describe --tags --exact-match 2>/dev/null || true)};

help: ## print this list (the default)
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

run: ## start the gateway; options: make run ARGS='--config verifier.yaml'
	@echo 'Compiling: about a minute the first time, seconds later.' >&2
	@go build -o bin/ ./cmd/verifier
	@bin/verifier serve $(ARGS)

test: ## vet, and test the rules, the flows, both stores in one suite, the chats on fakes and the plugin
	@./scripts/setup-tests
	@./scripts/test

test-long: ## everything under the race detector, with real Redis, Chromium, kill -9, chaos, agents, OpenClaw, MCP and fuzz
	@CI=true ./scripts/setup-tests
	@./scripts/test-long
	@$(MAKE) --no-print-directory test-plugin test-standins replay
	@$(MAKE) --no-print-directory chaos e2e-openclaw e2e-agents e2e-mcp
	@./scripts/fuzz $(SEENTIME) # five minutes for each target would be hours: make fuzz

size: ## count lines, words and folders against their budgets
	@./scripts/size

test-plugin: ## test the OpenClaw plugin on its own and against the server
	@node --test --test-timeout=60000 --test-reporter=spec integrations/openclaw/test/*.test.js

test-standins: ## run the suite of the chats against stand-ins that others wrote, installed into a cache
	@./scripts/test-standins

test-container: build ## run the binary as the image does: its user, paths and read-only root (needs root for chroot)
	@./scripts/test-container

e2e-openclaw: ## run the plugin in the real OpenClaw, installed into a cache; a few scenarios where time counts: ARGS='--within 400'
	@./scripts/e2e-openclaw $(ARGS)

e2e-agents: ## run the hook in the real coding agents, installed into a cache (1.2 GB); one of them: ARGS=claude-code; where time counts: ARGS='--within 400'
	@./scripts/e2e-agents $(ARGS)

e2e-mcp: ## run the gate between real MCP clients, agents too, and real servers, installed into a cache (1.2 GB); one test: ARGS=TestTheInspector; where time counts: ARGS='--within 400'
	@./scripts/e2e-mcp $(ARGS)

lint: ## run golangci-lint, built by Go at a pinned version
	@./scripts/retry go install -n $(GOLANGCI) # fetches what is missing
	@go run $(GOLANGCI) run --allow-serial-runners $(ARGS)
	@go run $(GOLANGCI) run --allow-serial-runners --enable-only lll --new-from-rev $(ROUND) $(ARGS)

bench: ## measure the decision path, into docs/speed.md; a short run: make bench ARGS=-short
	@./scripts/setup-tests
	@others=; [ '$(OTHERS)' = off ] || others=$$(./scripts/bench-others); go run ./test/bench -page docs/speed.md -others "$$others" $(ARGS)

chaos: ## break two gateways, Redis and chats while agents call, and write docs/chaos.md; a short run: make chaos CHAOS='-calls 500 -for 8s'
	@./scripts/setup-tests
	@./scripts/chaos $(TOXIPROXY) $(CHAOS) $(ARGS)

held: ## hold ten thousand calls for a person, into docs/speed.md: memory and waking; a short run: make held ARGS=-short
	@./scripts/setup-tests
	@go run ./test/bench -held -page docs/speed.md $(ARGS)

replay: ## play recorded attacks against the policy; all of them: make replay TRACE=sessions.jsonl.gz
	@./scripts/replay $(TRACE)

properties: ## try the properties and the parsers for longer
	@./scripts/properties $(CHECKS) 1 $(SEENTIME)

fuzz: ## fuzz every target for FUZZTIME (5m) each
	@./scripts/fuzz $(FUZZTIME)

fuzz-short: ## fuzz every target for SHORTTIME (1s) each, what comes from outside and what people see for SEENTIME (10s)
	@./scripts/fuzz $(SHORTTIME) $(SEENTIME)

docs: ## write the plugin's list of secrets, which is generated
	@go test ./hook -run '^TestDocs' -docs

pictures: ## draw the pictures of the page in docs/images anew, in a real Chromium; every view in both widths and themes: make pictures GALLERY=/tmp/gallery
	@go test -tags long ./test/page -run '^TestPicturesOfThePage$$' -pictures -gallery='$(GALLERY)' -count=1

vuln: ## ask the Go vulnerability database about the code we call
	@./scripts/vuln $(GOVULNCHECK)

build: ## put static binaries into ./bin
	@$(TAG) CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags "-s -w $${v:+-X main.release=$$v}" -o bin/ ./cmd/verifier ./cmd/verifier-hook

dist: ## build the archives of a release and their checksums into ./dist; of a commit without a tag, a snapshot
	@go run $(GORELEASER) release --config packaging/goreleaser.yaml --clean --skip=publish,announce \
		$$(git describe --tags --exact-match >/dev/null 2>&1 || echo --snapshot)
