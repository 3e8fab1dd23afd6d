//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "podrank.h"

#cgo noescape podrank_job_next
#cgo nocallback podrank_job_next
#cgo noescape podrank_job_index_parse
#cgo nocallback podrank_job_index_parse
#cgo noescape podrank_daemon_set_next
#cgo nocallback podrank_daemon_set_next
*/
import "C"

import (
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

func (Engine) NextJob(job *core.Job, now int64, pods []core.Pod, indexes []int64, order []uint32, outcomes []core.Outcome) (step core.JobStep, err error) {
	err = failure(C.podrank_job_next(
		(*C.podrank_job)(unsafe.Pointer(job)), C.int64_t(now),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(indexes))), C.size_t(len(indexes)),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))), C.size_t(len(order)),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))), C.size_t(len(outcomes)),
		(*C.podrank_job_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) JobIndex(text string) (int64, error) {
	var index C.int64_t
	err := failure(C.podrank_job_index_parse(chars(text), C.size_t(len(text)), &index))
	return int64(index), err
}

func (Engine) NextDaemonSet(set *core.DaemonSet, nodes []uint8, pods []core.DaemonSetPod, order []uint32, outcomes []core.Outcome) (step core.DaemonSetStep, err error) {
	err = failure(C.podrank_daemon_set_next(
		(*C.podrank_daemon_set)(unsafe.Pointer(set)),
		(*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(nodes))), C.size_t(len(nodes)),
		(*C.podrank_daemon_set_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))), C.size_t(len(order)),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))), C.size_t(len(outcomes)),
		(*C.podrank_daemon_set_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) JobReasonName(reason uint8) string { return jobReasonNames()[reason] }

var jobReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_job_reason_str(number) })

func (Engine) DaemonReasonName(reason uint8) string { return daemonReasonNames()[reason] }

var daemonReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_daemon_set_reason_str(number) })
