//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

// Not on 32-bit machines, where Go aligns records to four bytes but the library needs eight.

/*
#include "library.h"

#cgo noescape podrank_select
#cgo nocallback podrank_select
#cgo noescape podrank_predict
#cgo nocallback podrank_predict
#cgo noescape podrank_probabilities
#cgo nocallback podrank_probabilities
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
#cgo noescape podrank_kubernetes_compare
#cgo nocallback podrank_kubernetes_compare
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

func (Engine) Select(records []core.Pod, options core.Options, selected []uint32, scratch *[]core.Scratch) (int, error) {
	*scratch = slices.Grow((*scratch)[:0], len(selected))[:len(selected)]
	var count C.size_t
	o := c(options)
	err := failure(C.podrank_select(pods(records), size(records), &o, numbers(selected), size(selected),
		(*C.podrank_scratch)(start(*scratch)), size(*scratch), &count))
	return int(count), err
}

func (Engine) Predict(records []core.Pod, options core.Options, k int, order []uint32, scores []uint64) (certain, possible int, err error) {
	var certainLen, possibleLen C.size_t
	o := c(options)
	err = failure(C.podrank_predict(pods(records), size(records), &o, C.size_t(k), numbers(order), size(order),
		(*C.uint64_t)(start(scores)), size(scores), &certainLen, &possibleLen))
	return int(certainLen), int(possibleLen), err
}

func (Engine) Probabilities(
	records []core.Pod, options core.Options, k int, order []uint32, probabilities []core.Probability,
) (certain, possible int, err error) {
	var certainLen, possibleLen C.size_t
	scratch := make([]core.ProbabilityScratch, len(records))
	o := c(options)
	err = failure(C.podrank_probabilities(pods(records), size(records), &o, C.size_t(k), 0, numbers(order), size(order),
		(*C.podrank_probability)(start(probabilities)), size(probabilities),
		(*C.podrank_probability_scratch)(start(scratch)), size(scratch), &certainLen, &possibleLen))
	return int(certainLen), int(possibleLen), err
}

func (Engine) Spread(records, others []core.Pod, options core.Options, counts, order []uint32) error {
	o := c(options)
	return failure(C.podrank_spread(pods(records), size(records), pods(others), size(others), &o, numbers(counts), size(counts),
		numbers(order), size(order)))
}

func (Engine) NodeWeights(neighbours []core.Neighbour, weights []uint64) error {
	return failure(C.podrank_node_weights((*C.podrank_neighbour)(start(neighbours)), size(neighbours),
		(*C.uint64_t)(start(weights)), size(weights)))
}

func (Engine) EmptyNodes(records []core.Pod, weights []uint64, domains, counts []uint32) error {
	scratch := make([]core.EmptyNodesScratch, len(records))
	return failure(C.podrank_empty_nodes(pods(records), size(records), (*C.uint64_t)(start(weights)), size(weights),
		numbers(domains), size(domains), numbers(counts), size(counts), (*C.podrank_empty_nodes_scratch)(start(scratch)), size(scratch)))
}

func (Engine) Steer(
	records []core.Pod, options core.Options, prices []uint8, costs []int32, unsteerable []core.Unsteerable,
) (core.Steered, error) {
	var steered core.Steered
	scratch := make([]core.SteerScratch, len(records))
	o := c(options)
	status := C.podrank_steer(pods(records), size(records), &o, (*C.uint8_t)(start(prices)), size(prices),
		(*C.int32_t)(start(costs)), size(costs), (*C.podrank_steer_scratch)(start(scratch)), size(scratch),
		(*C.podrank_unsteerable)(start(unsteerable)), size(unsteerable), (*C.podrank_steered)(unsafe.Pointer(&steered)))
	if status == C.PODRANK_ERR_NO_ROOM {
		return steered, core.ErrNoRoom
	}
	return steered, failure(status)
}

func (Engine) Explain(a, b *core.Pod, options core.Options, rows *[core.RowMax]core.Row) (int, error) {
	var count C.size_t
	o := c(options)
	err := failure(C.podrank_explain((*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o,
		(*C.podrank_row)(unsafe.Pointer(rows)), C.size_t(len(rows)), &count))
	return int(count), err
}

func (Engine) Kubernetes(a, b *core.Pod, options core.Options) (first int, rule uint8, err error) {
	var ordering C.int32_t
	var number C.uint8_t
	o := c(options)
	err = failure(C.podrank_kubernetes_compare((*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o, &ordering, &number))
	return int(ordering), uint8(number), err
}

func (Engine) Version() string {
	return C.GoString(C.podrank_version())
}

// What a list is to C: where it begins, and how long it is.
func start[T any](list []T) unsafe.Pointer   { return unsafe.Pointer(unsafe.SliceData(list)) }
func size[T any](list []T) C.size_t          { return C.size_t(len(list)) }
func pods(records []core.Pod) *C.podrank_pod { return (*C.podrank_pod)(start(records)) }
func numbers(list []uint32) *C.uint32_t      { return (*C.uint32_t)(start(list)) }

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
