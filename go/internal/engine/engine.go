// Package engine chooses the core that decides in this program: libpodrank where cgo links it, else its translation to Go. The
// build tag podrank_go chooses the translation everywhere.
package engine

import "github.com/podrank/podrank/go/internal/core"

// Current decides. Only the race and tests that compare engines change it, before there are goroutines.
var Current core.Engine = preferred
