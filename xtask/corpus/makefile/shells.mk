.PHONY: assets notes

assets:
	mkdir -p dist/{js,css} {1..3}
	curl a{b,{c,d}} PREFIX=~/x "{e,f}"

notes:
	logger "$$(echo "a\nb")"
	logger 'a\nb'

GO = CGO_ENABLED=0 go
.PHONY: build
build:
	$(GO) build ./...
