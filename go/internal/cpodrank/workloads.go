//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "podrank.h"

#cgo noescape podrank_job_next
#cgo nocallback podrank_job_next
#cgo noescape podrank_job_index
#cgo nocallback podrank_job_index
#cgo noescape podrank_daemon_set_next
#cgo nocallback podrank_daemon_set_next
*/
import "C"

import (
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

// As in cgo.go: a difference does not compile. The fields are in C's order, so a size is enough where all have one width.
var (
	_ = [1]int{}[unsafe.Sizeof(core.Job{})-C.sizeof_podrank_job]
	_ = [1]int{}[unsafe.Offsetof(core.Job{}.Succeeded)-unsafe.Offsetof(C.podrank_job{}.succeeded)]
	_ = [1]int{}[unsafe.Offsetof(core.Job{}.Flags)-unsafe.Offsetof(C.podrank_job{}.flags)]
	_ = [1]int{}[unsafe.Offsetof(core.Job{}.FailedIndexes)-unsafe.Offsetof(C.podrank_job{}.failed_indexes)]
	_ = [1]int{}[unsafe.Offsetof(core.Job{}.StartTime)-unsafe.Offsetof(C.podrank_job{}.start_time)]
	_ = [1]int{}[unsafe.Offsetof(core.Job{}.MaxFailedIndexes)-unsafe.Offsetof(C.podrank_job{}.max_failed_indexes)]
	_ = [1]int{}[unsafe.Sizeof(core.JobStep{})-C.sizeof_podrank_job_step]
	_ = [1]int{}[unsafe.Offsetof(core.JobStep{}.Later)-unsafe.Offsetof(C.podrank_job_step{}.later)]
	_ = [1]int{}[unsafe.Sizeof(core.Outcome{})-C.sizeof_podrank_outcome]
	_ = [1]int{}[unsafe.Offsetof(core.Outcome{}.Quota)-unsafe.Offsetof(C.podrank_outcome{}.quota)]
	_ = [1]int{}[unsafe.Offsetof(core.Outcome{}.Reason)-unsafe.Offsetof(C.podrank_outcome{}.reason)]
	_ = [1]int{}[unsafe.Sizeof(core.DaemonSet{})-C.sizeof_podrank_daemon_set]
	_ = [1]int{}[unsafe.Offsetof(core.DaemonSet{}.Flags)-unsafe.Offsetof(C.podrank_daemon_set{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.DaemonPod{})-C.sizeof_podrank_daemon_pod]
	_ = [1]int{}[unsafe.Offsetof(core.DaemonPod{}.Node)-unsafe.Offsetof(C.podrank_daemon_pod{}.node)]
	_ = [1]int{}[unsafe.Offsetof(core.DaemonPod{}.Flags)-unsafe.Offsetof(C.podrank_daemon_pod{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.DaemonStep{})-C.sizeof_podrank_daemon_step]
	_ = [1]int{}[unsafe.Offsetof(core.DaemonStep{}.BlockedBy)-unsafe.Offsetof(C.podrank_daemon_step{}.blocked_by)]
	_ = [1]int{}[unsafe.Offsetof(core.DaemonStep{}.IsUpdate)-unsafe.Offsetof(C.podrank_daemon_step{}.is_update)]
)

func (Engine) NextJob(job *core.Job, now int64, pods []core.Record, indexes []int64, order []uint32, outcomes []core.Outcome) (step core.JobStep, err error) {
	err = failure(C.podrank_job_next(
		(*C.podrank_job)(unsafe.Pointer(job)), C.int64_t(now),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(indexes))),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))),
		(*C.podrank_job_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) JobIndex(text string) (int64, error) {
	var index C.int64_t
	err := failure(C.podrank_job_index(chars(text), C.size_t(len(text)), &index))
	return int64(index), err
}

func (Engine) NextDaemonSet(set *core.DaemonSet, nodes []uint8, pods []core.DaemonPod, order []uint32, outcomes []core.Outcome) (step core.DaemonStep, err error) {
	err = failure(C.podrank_daemon_set_next(
		(*C.podrank_daemon_set)(unsafe.Pointer(set)),
		(*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(nodes))), C.size_t(len(nodes)),
		(*C.podrank_daemon_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))),
		(*C.podrank_daemon_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) JobReasonName(reason uint8) string { return jobReasonNames()[reason] }

var jobReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_job_reason_str(number) })

func (Engine) DaemonReasonName(reason uint8) string { return daemonReasonNames()[reason] }

var daemonReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_daemon_reason_str(number) })
