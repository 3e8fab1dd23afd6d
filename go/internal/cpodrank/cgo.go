//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

// Not on 32-bit machines, where Go aligns records to four bytes but the library needs eight.

/*
#include "library.h"

#cgo noescape podrank_select
#cgo nocallback podrank_select
#cgo noescape podrank_settle
#cgo nocallback podrank_settle
#cgo noescape podrank_odds
#cgo nocallback podrank_odds
#cgo noescape podrank_spread
#cgo nocallback podrank_spread
#cgo noescape podrank_node_weights
#cgo nocallback podrank_node_weights
#cgo noescape podrank_empty_nodes
#cgo nocallback podrank_empty_nodes
#cgo noescape podrank_steer
#cgo nocallback podrank_steer
#cgo noescape podrank_explain
#cgo nocallback podrank_explain
#cgo noescape podrank_upstream
#cgo nocallback podrank_upstream
*/
import "C"

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

// An Engine is libpodrank; [core.Engine] says what its methods do.
type Engine struct{}

var _ core.Engine = Engine{}

// Name is this engine's.
func (Engine) Name() string { return "libpodrank" }

// Names the symbol of this header's ABI, so that a program does not link with a library that has another ABI.
var _ = C.podrank_abi_1()

func (Engine) Select(records []core.Pod, options core.Options, victims []uint32, scratch *[]core.Scratch) (int, error) {
	*scratch = slices.Grow((*scratch)[:0], len(victims))[:len(victims)]
	var selected C.size_t
	o := c(options)
	err := failure(C.podrank_select(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint32_t)(unsafe.SliceData(victims)), C.size_t(len(victims)),
		(*C.podrank_scratch)(unsafe.Pointer(unsafe.SliceData(*scratch))), C.size_t(len(*scratch)), &selected))
	return int(selected), err
}

func (Engine) Settle(records []core.Pod, options core.Options, k int, order []uint32, scores []uint64) (certain, contested int, err error) {
	var certainLen, contestedLen C.size_t
	o := c(options)
	err = failure(C.podrank_settle(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o, C.size_t(k),
		(*C.uint32_t)(unsafe.SliceData(order)), C.size_t(len(order)),
		(*C.uint64_t)(unsafe.SliceData(scores)), C.size_t(len(scores)), &certainLen, &contestedLen))
	return int(certainLen), int(contestedLen), err
}

func (Engine) Odds(records []core.Pod, options core.Options, k int, order []uint32, odds []core.PodOdds) (certain, contested int, err error) {
	var certainLen, contestedLen C.size_t
	scratch := make([]core.OddsScratch, len(records))
	o := c(options)
	err = failure(C.podrank_odds(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o, C.size_t(k),
		(*C.uint32_t)(unsafe.SliceData(order)), C.size_t(len(order)),
		(*C.podrank_pod_odds)(unsafe.Pointer(unsafe.SliceData(odds))), C.size_t(len(odds)),
		(*C.podrank_odds_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch)), &certainLen, &contestedLen))
	return int(certainLen), int(contestedLen), err
}

func (Engine) Spread(records, others []core.Pod, options core.Options, counts, order []uint32) error {
	o := c(options)
	return failure(C.podrank_spread(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(others))), C.size_t(len(others)), &o,
		(*C.uint32_t)(unsafe.SliceData(counts)), C.size_t(len(counts)),
		(*C.uint32_t)(unsafe.SliceData(order)), C.size_t(len(order))))
}

func (Engine) NodeWeights(neighbours []core.Neighbour, weights []uint64) error {
	return failure(C.podrank_node_weights(
		(*C.podrank_neighbour)(unsafe.Pointer(unsafe.SliceData(neighbours))), C.size_t(len(neighbours)),
		(*C.uint64_t)(unsafe.SliceData(weights)), C.size_t(len(weights))))
}

func (Engine) EmptyNodes(records []core.Pod, options core.Options, weights []uint64, domains, counts []uint32) error {
	scratch := make([]core.EmptyNodesScratch, len(records))
	o := c(options)
	return failure(C.podrank_empty_nodes(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint64_t)(unsafe.SliceData(weights)), C.size_t(len(weights)),
		(*C.uint32_t)(unsafe.SliceData(domains)), C.size_t(len(domains)),
		(*C.uint32_t)(unsafe.SliceData(counts)), C.size_t(len(counts)),
		(*C.podrank_empty_nodes_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch))))
}

func (Engine) Steer(records []core.Pod, options core.Options, prices []uint8, costs []int32, blocked []core.Blocked) (core.Steered, error) {
	var steered core.Steered
	scratch := make([]core.SteerScratch, len(records))
	o := c(options)
	status := C.podrank_steer(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint8_t)(unsafe.SliceData(prices)), C.size_t(len(prices)),
		(*C.int32_t)(unsafe.SliceData(costs)), C.size_t(len(costs)),
		(*C.podrank_steer_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch)),
		(*C.podrank_blocked)(unsafe.Pointer(unsafe.SliceData(blocked))), C.size_t(len(blocked)),
		(*C.podrank_steered)(unsafe.Pointer(&steered)))
	if status == C.PODRANK_ERR_NO_ROOM {
		return steered, core.ErrNoRoom
	}
	return steered, failure(status)
}

func (Engine) Explain(a, b *core.Pod, options core.Options, rows *[core.RowMax]core.Row) (int, error) {
	var count C.size_t
	o := c(options)
	err := failure(C.podrank_explain(
		(*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o,
		(*C.podrank_row)(unsafe.Pointer(rows)), C.size_t(len(rows)), &count))
	return int(count), err
}

func (Engine) Upstream(a, b *core.Pod, options core.Options) (before int, rule uint8, err error) {
	var ordering C.int32_t
	var number C.uint8_t
	o := c(options)
	err = failure(C.podrank_upstream(
		(*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o, &ordering, &number))
	return int(ordering), uint8(number), err
}

func (Engine) Version() string {
	return C.GoString(C.podrank_version())
}

func c(options core.Options) C.podrank_options {
	return C.podrank_options{
		size:  C.sizeof_podrank_options,
		flags: C.uint32_t(options.Flags),
		now:   C.int64_t(options.Now),
	}
}

func failure(status C.int32_t) error {
	if status == C.PODRANK_OK {
		return nil
	}
	return errors.New("podrank: " + C.GoString(C.podrank_status_str(status)))
}
