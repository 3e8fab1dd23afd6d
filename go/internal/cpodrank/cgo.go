//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

// Not on 32-bit machines, where Go aligns records to four bytes but the library needs eight.

/*
#include "podrank.h"

#cgo noescape podrank_select
#cgo nocallback podrank_select
#cgo noescape podrank_settle
#cgo nocallback podrank_settle
#cgo noescape podrank_spread
#cgo nocallback podrank_spread
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
	"sync"
	"unsafe"
)

// The layouts are the same: a difference is an index out of range, which does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(Record{})-C.sizeof_podrank_pod]
	_ = [1]int{}[unsafe.Offsetof(Record{}.ReadyTime)-unsafe.Offsetof(C.podrank_pod{}.ready_time)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.CreationTime)-unsafe.Offsetof(C.podrank_pod{}.creation_time)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.DeletionCost)-unsafe.Offsetof(C.podrank_pod{}.deletion_cost)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Rank)-unsafe.Offsetof(C.podrank_pod{}.rank)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Restarts)-unsafe.Offsetof(C.podrank_pod{}.restarts)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.SidecarRestarts)-unsafe.Offsetof(C.podrank_pod{}.sidecar_restarts)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Node)-unsafe.Offsetof(C.podrank_pod{}.node)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Phase)-unsafe.Offsetof(C.podrank_pod{}.phase)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Flags)-unsafe.Offsetof(C.podrank_pod{}.flags)]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Tier)-unsafe.Offsetof(C.podrank_pod{}.tier)]
	_ = [1]int{}[unsafe.Sizeof(SteerScratch{})-C.sizeof_podrank_steer_scratch]
	_ = [1]int{}[unsafe.Sizeof(Blocked{})-C.sizeof_podrank_blocked]
	_ = [1]int{}[unsafe.Offsetof(Blocked{}.Before)-unsafe.Offsetof(C.podrank_blocked{}.before)]
	_ = [1]int{}[unsafe.Offsetof(Blocked{}.Rule)-unsafe.Offsetof(C.podrank_blocked{}.rule)]
	_ = [1]int{}[unsafe.Sizeof(Steered{})-C.sizeof_podrank_steered]
	_ = [1]int{}[unsafe.Offsetof(Steered{}.Blocked)-unsafe.Offsetof(C.podrank_steered{}.blocked)]
	_ = [1]int{}[unsafe.Offsetof(Steered{}.Lower)-unsafe.Offsetof(C.podrank_steered{}.lower)]
	_ = [1]int{}[unsafe.Offsetof(Steered{}.Higher)-unsafe.Offsetof(C.podrank_steered{}.higher)]
	_ = [1]int{}[unsafe.Sizeof(Scratch{})-C.sizeof_podrank_scratch]
	_ = [1]int{}[unsafe.Sizeof(Row{})-C.sizeof_podrank_row]
	_ = [1]int{}[unsafe.Offsetof(Row{}.A)-unsafe.Offsetof(C.podrank_row{}.a)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.B)-unsafe.Offsetof(C.podrank_row{}.b)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.Rule)-unsafe.Offsetof(C.podrank_row{}.rule)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.Applies)-unsafe.Offsetof(C.podrank_row{}.applies)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.Decides)-unsafe.Offsetof(C.podrank_row{}.decides)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.Kind)-unsafe.Offsetof(C.podrank_row{}.kind)]
	_ = [1]int{}[unsafe.Offsetof(Row{}.Ordering)-unsafe.Offsetof(C.podrank_row{}.ordering)]
)

// So are the numbers.
var (
	_ = [1]int{}[MaxRows-C.PODRANK_ROWS_MAX]
	_ = [1]int{}[Unset-C.PODRANK_TIME_UNSET]
	_ = [1]int{}[Assigned-C.PODRANK_POD_ASSIGNED]
	_ = [1]int{}[Ready-C.PODRANK_POD_READY]
	_ = [1]int{}[Preferred-C.PODRANK_POD_PREFERRED]
	_ = [1]int{}[Pending-C.PODRANK_PHASE_PENDING]
	_ = [1]int{}[Unknown-C.PODRANK_PHASE_UNKNOWN]
	_ = [1]int{}[Running-C.PODRANK_PHASE_RUNNING]
	_ = [1]int{}[Now-C.PODRANK_NOW]
	_ = [1]int{}[PodDeletionCostOff-C.PODRANK_POD_DELETION_COST_OFF]
	_ = [1]int{}[LogarithmicScaleDownOff-C.PODRANK_LOGARITHMIC_SCALE_DOWN_OFF]
	_ = [1]int{}[PreferForScaleDownOn-C.PODRANK_PREFER_FOR_SCALE_DOWN_ON]
	_ = [1]int{}[KindBool-C.PODRANK_KIND_BOOL]
	_ = [1]int{}[KindPhase-C.PODRANK_KIND_PHASE]
	_ = [1]int{}[KindNumber-C.PODRANK_KIND_NUMBER]
	_ = [1]int{}[KindTime-C.PODRANK_KIND_TIME]
	_ = [1]int{}[KindAgeBucket-C.PODRANK_KIND_AGE_BUCKET]
	_ = [1]int{}[KindUID-C.PODRANK_KIND_UID]
)

// Names the symbol of this header's ABI, so that a program does not link with a library that has another ABI.
var _ = C.podrank_abi_1()

// Select writes the indices of the first len(victims) records of the order to victims and returns their number. scratch has
// as many elements, for speed.
func Select(records []Record, options Options, victims []uint32, scratch []Scratch) (int, error) {
	var selected C.size_t
	o := c(options)
	err := failure(C.podrank_select(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint32_t)(unsafe.SliceData(victims)), C.size_t(len(victims)),
		(*C.podrank_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch)), &selected))
	return int(selected), err
}

// Settle writes the indices of all records to order, the certain victims of k first and then the contested ones, and
// returns the numbers of both. order and scores have one element per record.
func Settle(records []Record, options Options, k int, order []uint32, scores []uint64) (certain, contested int, err error) {
	var certainLen, contestedLen C.size_t
	o := c(options)
	err = failure(C.podrank_settle(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o, C.size_t(k),
		(*C.uint32_t)(unsafe.SliceData(order)), (*C.uint64_t)(unsafe.SliceData(scores)), &certainLen, &contestedLen))
	return int(certainLen), int(contestedLen), err
}

// Spread sets ranks that count again after each victim. Node numbers are below len(counts). order has one element per record.
func Spread(records, others []Record, options Options, counts, order []uint32) error {
	o := c(options)
	return failure(C.podrank_spread(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(others))), C.size_t(len(others)), &o,
		(*C.uint32_t)(unsafe.SliceData(counts)), C.size_t(len(counts)), (*C.uint32_t)(unsafe.SliceData(order))))
}

// Steer writes costs that follow the tiers of records, and which records are blocked. costs and blocked have one element per
// record. fixed has one byte per record, or none. With ErrNoRoom, Lower and Higher are set.
func Steer(records []Record, options Options, fixed []uint8, costs []int32, blocked []Blocked) (Steered, error) {
	var steered Steered
	scratch := make([]SteerScratch, len(records))
	o := c(options)
	status := C.podrank_steer(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint8_t)(unsafe.SliceData(fixed)), C.size_t(len(fixed)), (*C.int32_t)(unsafe.SliceData(costs)),
		(*C.podrank_steer_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))),
		(*C.podrank_blocked)(unsafe.Pointer(unsafe.SliceData(blocked))), C.size_t(len(blocked)),
		(*C.podrank_steered)(unsafe.Pointer(&steered)))
	if status == C.PODRANK_ERR_NO_ROOM {
		return steered, ErrNoRoom
	}
	return steered, failure(status)
}

// Explain writes every rule's answer about a and b to rows and returns the number of rows.
func Explain(a, b *Record, options Options, rows *[MaxRows]Row) (int, error) {
	var rowsLen C.size_t
	o := c(options)
	err := failure(C.podrank_explain(
		(*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o,
		(*C.podrank_row)(unsafe.Pointer(rows)), &rowsLen))
	return int(rowsLen), err
}

// Upstream returns -1 if kube-controller-manager's comparator puts a before b, 1 if it puts b before a, and 0 for a tie, with
// the rule that decides.
func Upstream(a, b *Record, options Options) (before int, rule uint8, err error) {
	var relation C.int32_t
	var number C.uint8_t
	o := c(options)
	err = failure(C.podrank_upstream(
		(*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o, &relation, &number))
	switch relation {
	case C.PODRANK_RELATION_BEFORE:
		before = -1
	case C.PODRANK_RELATION_AFTER:
		before = 1
	}
	return before, uint8(number), err
}

var ruleNames = sync.OnceValue(func() *[256]string {
	var names [256]string
	for rule := range names {
		names[rule] = C.GoString(C.podrank_rule_str(C.uint8_t(rule)))
	}
	return &names
})

// RuleName returns the name of the rule with this number, or "" if there is none.
func RuleName(rule uint8) string {
	return ruleNames()[rule]
}

// Version returns the release of the library that is linked in.
func Version() string {
	return C.GoString(C.podrank_version())
}

func c(options Options) C.podrank_options {
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
