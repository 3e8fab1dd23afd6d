//go:build cgo && !386 && !arm && !mips && !mipsle && podrank_system

package cpodrank

// #cgo CPPFLAGS: -DPODRANK_SYSTEM
// #cgo pkg-config: podrank
import "C"
