//go:build cgo && !podrank_go && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package engine

import "github.com/podrank/podrank/go/internal/cpodrank"

// Not on 32-bit machines: there Go aligns records to four bytes, and libpodrank wants eight.
var preferred = cpodrank.Engine{}
