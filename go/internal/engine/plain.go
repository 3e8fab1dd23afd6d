//go:build !(cgo && !podrank_go && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64))))

package engine

import "github.com/podrank/podrank/go/internal/plain"

var preferred = plain.Engine{}
