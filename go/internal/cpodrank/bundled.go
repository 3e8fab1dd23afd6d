//go:build cgo && !podrank_system

package cpodrank

// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/libpodrank_linux_amd64.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/libpodrank_linux_arm64.a
import "C"
