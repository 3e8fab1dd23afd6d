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
	"slices"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

// An Engine is libpodrank; [core.Engine] says what its methods do.
type Engine struct{}

var _ core.Engine = Engine{}

// Name is this engine's.
func (Engine) Name() string { return "libpodrank" }

// The layouts are one: a difference is an index out of range, which does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(core.Record{})-C.sizeof_podrank_pod]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.ReadyTime)-unsafe.Offsetof(C.podrank_pod{}.ready_time)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.CreationTime)-unsafe.Offsetof(C.podrank_pod{}.creation_time)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.DeletionCost)-unsafe.Offsetof(C.podrank_pod{}.deletion_cost)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Rank)-unsafe.Offsetof(C.podrank_pod{}.rank)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Restarts)-unsafe.Offsetof(C.podrank_pod{}.restarts)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.SidecarRestarts)-unsafe.Offsetof(C.podrank_pod{}.sidecar_restarts)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Node)-unsafe.Offsetof(C.podrank_pod{}.node)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Phase)-unsafe.Offsetof(C.podrank_pod{}.phase)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Flags)-unsafe.Offsetof(C.podrank_pod{}.flags)]
	_ = [1]int{}[unsafe.Offsetof(core.Record{}.Tier)-unsafe.Offsetof(C.podrank_pod{}.tier)]
	_ = [1]int{}[unsafe.Sizeof(core.SteerScratch{})-C.sizeof_podrank_steer_scratch]
	_ = [1]int{}[unsafe.Sizeof(core.Blocked{})-C.sizeof_podrank_blocked]
	_ = [1]int{}[unsafe.Offsetof(core.Blocked{}.Before)-unsafe.Offsetof(C.podrank_blocked{}.before)]
	_ = [1]int{}[unsafe.Offsetof(core.Blocked{}.Rule)-unsafe.Offsetof(C.podrank_blocked{}.rule)]
	_ = [1]int{}[unsafe.Sizeof(core.Steered{})-C.sizeof_podrank_steered]
	_ = [1]int{}[unsafe.Offsetof(core.Steered{}.Blocked)-unsafe.Offsetof(C.podrank_steered{}.blocked)]
	_ = [1]int{}[unsafe.Offsetof(core.Steered{}.Lower)-unsafe.Offsetof(C.podrank_steered{}.lower)]
	_ = [1]int{}[unsafe.Offsetof(core.Steered{}.Higher)-unsafe.Offsetof(C.podrank_steered{}.higher)]
	_ = [1]int{}[unsafe.Sizeof(core.Scratch{})-C.sizeof_podrank_scratch]
	_ = [1]int{}[unsafe.Sizeof(core.Row{})-C.sizeof_podrank_row]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.A)-unsafe.Offsetof(C.podrank_row{}.a)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.B)-unsafe.Offsetof(C.podrank_row{}.b)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.Rule)-unsafe.Offsetof(C.podrank_row{}.rule)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.Applies)-unsafe.Offsetof(C.podrank_row{}.applies)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.Decides)-unsafe.Offsetof(C.podrank_row{}.decides)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.Kind)-unsafe.Offsetof(C.podrank_row{}.kind)]
	_ = [1]int{}[unsafe.Offsetof(core.Row{}.Ordering)-unsafe.Offsetof(C.podrank_row{}.ordering)]
)

// So are the numbers.
var (
	_ = [1]int{}[core.MaxRows-C.PODRANK_ROWS_MAX]
	_ = [1]int{}[core.Unset-C.PODRANK_TIME_UNSET]
	_ = [1]int{}[core.Assigned-C.PODRANK_POD_ASSIGNED]
	_ = [1]int{}[core.Ready-C.PODRANK_POD_READY]
	_ = [1]int{}[core.Preferred-C.PODRANK_POD_PREFERRED]
	_ = [1]int{}[core.Pending-C.PODRANK_PHASE_PENDING]
	_ = [1]int{}[core.Unknown-C.PODRANK_PHASE_UNKNOWN]
	_ = [1]int{}[core.Running-C.PODRANK_PHASE_RUNNING]
	_ = [1]int{}[core.Now-C.PODRANK_NOW]
	_ = [1]int{}[core.PodDeletionCostOff-C.PODRANK_POD_DELETION_COST_OFF]
	_ = [1]int{}[core.LogarithmicScaleDownOff-C.PODRANK_LOGARITHMIC_SCALE_DOWN_OFF]
	_ = [1]int{}[core.PreferForScaleDownOn-C.PODRANK_PREFER_FOR_SCALE_DOWN_ON]
	_ = [1]int{}[core.KindBool-C.PODRANK_KIND_BOOL]
	_ = [1]int{}[core.KindPhase-C.PODRANK_KIND_PHASE]
	_ = [1]int{}[core.KindNumber-C.PODRANK_KIND_NUMBER]
	_ = [1]int{}[core.KindTime-C.PODRANK_KIND_TIME]
	_ = [1]int{}[core.KindAgeBucket-C.PODRANK_KIND_AGE_BUCKET]
	_ = [1]int{}[core.KindUID-C.PODRANK_KIND_UID]
	_ = [1]int{}[core.StatusOK-C.PODRANK_OK]
	_ = [1]int{}[core.StatusNoRoom-C.PODRANK_ERR_NO_ROOM]
	_ = [1]int{}[core.RelationBefore-C.PODRANK_RELATION_BEFORE]
	_ = [1]int{}[core.RelationAfter-C.PODRANK_RELATION_AFTER]
)

// Names the symbol of this header's ABI, so that a program does not link with a library that has another ABI.
var _ = C.podrank_abi_1()

func (Engine) Select(records []core.Record, options core.Options, victims []uint32, scratch *[]core.Scratch) (int, error) {
	*scratch = slices.Grow((*scratch)[:0], len(victims))[:len(victims)]
	var selected C.size_t
	o := c(options)
	err := failure(C.podrank_select(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint32_t)(unsafe.SliceData(victims)), C.size_t(len(victims)),
		(*C.podrank_scratch)(unsafe.Pointer(unsafe.SliceData(*scratch))), C.size_t(len(*scratch)), &selected))
	return int(selected), err
}

func (Engine) Settle(records []core.Record, options core.Options, k int, order []uint32, scores []uint64) (certain, contested int, err error) {
	var certainLen, contestedLen C.size_t
	o := c(options)
	err = failure(C.podrank_settle(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o, C.size_t(k),
		(*C.uint32_t)(unsafe.SliceData(order)), (*C.uint64_t)(unsafe.SliceData(scores)), &certainLen, &contestedLen))
	return int(certainLen), int(contestedLen), err
}

func (Engine) Spread(records, others []core.Record, options core.Options, counts, order []uint32) error {
	o := c(options)
	return failure(C.podrank_spread(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(others))), C.size_t(len(others)), &o,
		(*C.uint32_t)(unsafe.SliceData(counts)), C.size_t(len(counts)), (*C.uint32_t)(unsafe.SliceData(order))))
}

func (Engine) Steer(records []core.Record, options core.Options, fixed []uint8, costs []int32, blocked []core.Blocked) (core.Steered, error) {
	var steered core.Steered
	scratch := make([]core.SteerScratch, len(records))
	o := c(options)
	status := C.podrank_steer(
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(records))), C.size_t(len(records)), &o,
		(*C.uint8_t)(unsafe.SliceData(fixed)), C.size_t(len(fixed)), (*C.int32_t)(unsafe.SliceData(costs)),
		(*C.podrank_steer_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))),
		(*C.podrank_blocked)(unsafe.Pointer(unsafe.SliceData(blocked))), C.size_t(len(blocked)),
		(*C.podrank_steered)(unsafe.Pointer(&steered)))
	if status == C.PODRANK_ERR_NO_ROOM {
		return steered, core.ErrNoRoom
	}
	return steered, failure(status)
}

func (Engine) Explain(a, b *core.Record, options core.Options, rows *[core.MaxRows]core.Row) (int, error) {
	var rowsLen C.size_t
	o := c(options)
	err := failure(C.podrank_explain(
		(*C.podrank_pod)(unsafe.Pointer(a)), (*C.podrank_pod)(unsafe.Pointer(b)), &o,
		(*C.podrank_row)(unsafe.Pointer(rows)), &rowsLen))
	return int(rowsLen), err
}

func (Engine) Upstream(a, b *core.Record, options core.Options) (before int, rule uint8, err error) {
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

func (Engine) RuleName(rule uint8) string { return ruleNames()[rule] }

var ruleNames = names(func(number C.uint8_t) *C.char { return C.podrank_rule_str(number) })

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
