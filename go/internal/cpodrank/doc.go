// Package cpodrank is the engine that calls libpodrank, and the only cgo of the module: the C functions over records and numbers.
//
// The header and the archives stand beside the files that use them, so that `go get` and vendoring take them along.
package cpodrank
