// Package judge holds podrank against Kubernetes itself: its tests run the
// real controllers' code (package upstream), libpodrank (internal/podrank) and
// the preview (../answer, which cargo builds) side by side. It is a module of its own, so that nobody who uses podrank
// inherits k8s.io/kubernetes.
//
//	go vet ./... && go test -count=1 ./...
//
// -count=1, as Go's test cache knows nothing of ../../go/internal/cpodrank, ../../preview and ../../tests/vectors.
package judge

import (
	_ "embed"
	"regexp"
)

//go:embed go.mod
var module string

// Kubernetes is the release that judges: what go.mod requires. Programs know
// the modules they are made of, but tests do not.
var Kubernetes = regexp.MustCompile(`\bk8s\.io/kubernetes (v\S+)`).FindStringSubmatch(module)[1]
