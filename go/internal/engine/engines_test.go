//go:build !(cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64))))

package engine

import (
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/plain"
)

// engines are all that this program has.
var engines = []core.Engine{plain.Engine{}}
