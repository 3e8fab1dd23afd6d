//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "library.h"

#cgo noescape podrank_plan
#cgo nocallback podrank_plan
#cgo noescape podrank_slow_start_begin
#cgo nocallback podrank_slow_start_begin
#cgo noescape podrank_slow_start_report
#cgo nocallback podrank_slow_start_report
#cgo noescape podrank_expectations_expect_creations
#cgo nocallback podrank_expectations_expect_creations
#cgo noescape podrank_expectations_expect_deletions
#cgo nocallback podrank_expectations_expect_deletions
#cgo noescape podrank_expectations_creations_observed
#cgo nocallback podrank_expectations_creations_observed
#cgo noescape podrank_expectations_deletion_observed
#cgo nocallback podrank_expectations_deletion_observed
#cgo noescape podrank_expectations_satisfied
#cgo nocallback podrank_expectations_satisfied
#cgo noescape podrank_availability
#cgo nocallback podrank_availability
*/
import "C"

import (
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

func (Engine) Plan(state core.PlanState) (creations, deletions uint32, err error) {
	var create, del C.uint32_t
	err = failure(C.podrank_plan((*C.podrank_plan_state)(unsafe.Pointer(&state)), &create, &del))
	return uint32(create), uint32(del), err
}

func (Engine) BeginSlowStart(count uint32) (start core.SlowStart, err error) {
	err = failure(C.podrank_slow_start_begin(C.uint32_t(count), (*C.podrank_slow_start)(unsafe.Pointer(&start))))
	return start, err
}

func (Engine) ReportSlowStart(start *core.SlowStart, failures uint32) error {
	return failure(C.podrank_slow_start_report((*C.podrank_slow_start)(unsafe.Pointer(start)), C.uint32_t(failures)))
}

func (Engine) ExpectCreations(e *core.Expectations, count uint32, now int64) error {
	return failure(C.podrank_expectations_expect_creations(expectations(e), C.uint32_t(count), C.int64_t(now)))
}

func (Engine) ExpectDeletions(e *core.Expectations, room, deleted []core.PodKey, now int64) error {
	return failure(C.podrank_expectations_expect_deletions(expectations(e), keys(room), size(room), keys(deleted), size(deleted),
		C.int64_t(now)))
}

func (Engine) CreationsObserved(e *core.Expectations, count uint32) error {
	return failure(C.podrank_expectations_creations_observed(expectations(e), C.uint32_t(count)))
}

func (Engine) DeletionObserved(e *core.Expectations, room []core.PodKey, key core.PodKey) (counted bool, err error) {
	var yes C.int32_t
	err = failure(C.podrank_expectations_deletion_observed(expectations(e), keys(room), size(room),
		(*C.podrank_pod_key)(unsafe.Pointer(&key)), &yes))
	return yes != 0, err
}

func (Engine) Satisfied(e *core.Expectations, now int64) (bool, error) {
	var yes C.int32_t
	err := failure(C.podrank_expectations_satisfied(expectations(e), C.int64_t(now), &yes))
	return yes != 0, err
}

func (Engine) Availability(records []core.Pod, minReadySeconds uint32, now int64) (ready, available int, lookAgain uint64, err error) {
	var readyLen, availableLen C.size_t
	var nanoseconds C.uint64_t
	err = failure(C.podrank_availability(pods(records), size(records), C.uint32_t(minReadySeconds), C.int64_t(now),
		&readyLen, &availableLen, &nanoseconds))
	return int(readyLen), int(availableLen), uint64(nanoseconds), err
}

func expectations(e *core.Expectations) *C.podrank_expectations {
	return (*C.podrank_expectations)(unsafe.Pointer(e))
}
