//go:build cgo && !386 && !arm && !mips && !mipsle && podrank_system

package cpodrank

// #cgo pkg-config: podrank
import "C"
