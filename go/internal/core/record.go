// Package core has what all engines share: the records and numbers of podrank.h, and what an engine does with them. It
// imports nothing of the module. The records are generated, and internal/cpodrank compares them with C's where there is
// cgo.
package core

import "errors"

// Options are C's podrank_options, without the size.
type Options struct {
	Flags uint32
	Now   int64
}

// ErrNoRoom is the error if fixed deletion costs leave no room for the tiers. Steered has the indices of two pods then.
var ErrNoRoom = errors.New("podrank: the fixed deletion costs leave no room")
