//go:build cgo && !podrank_go && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package engine

import "github.com/podrank/podrank/go/internal/cpodrank"

// Not on 32-bit machines, where Go aligns records to four bytes but libpodrank needs eight.
var preferred = cpodrank.Engine{}
