.POSIX:
.PHONY: help run test lint bench fuzz fuzz-short build

GOLANGCI  = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
ARGS      =
FUZZTIME  = 5m
SHORTTIME = 10s

help: ## print this list (the default)
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

run: ## start the gateway; options: make run ARGS='--config verifier.yaml'
	@go run ./cmd/verifier serve $(ARGS)

test: ## install what the tests need, then vet and test with the race detector
	@./scripts/setup-tests
	@go vet ./...
	@CGO_ENABLED=1 go test -race ./...

lint: ## run golangci-lint, built by Go at a pinned version
	@go run $(GOLANGCI) run $(ARGS)

bench: ## measure the decision path; a short run: make bench ARGS=-short
	@./scripts/setup-tests
	@go run ./bench $(ARGS)

fuzz: ## fuzz every target for FUZZTIME (5m) each
	@./scripts/fuzz $(FUZZTIME)

fuzz-short: ## fuzz every target for SHORTTIME (10s) each
	@./scripts/fuzz $(SHORTTIME)

build: ## put a static binary into ./bin
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/verifier ./cmd/verifier
