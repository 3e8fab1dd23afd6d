//go:build cgo && podrank_system

package cpodrank

// #cgo pkg-config: podrank
import "C"
