// Package engine chooses what decides in this program: libpodrank where cgo links it, and plain Go elsewhere. The
// build tag podrank_go chooses plain Go everywhere.
package engine

import "github.com/podrank/podrank/go/internal/core"

// Current decides. Only the race and tests that compare engines change it, before there are goroutines.
var Current core.Engine = preferred
