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

import "unsafe"

// As in cgo.go: a difference does not compile. The fields are in C's order, so a size is enough where all have one width.
var (
	_ = [1]int{}[unsafe.Sizeof(Job{})-C.sizeof_podrank_job]
	_ = [1]int{}[unsafe.Offsetof(Job{}.Succeeded)-unsafe.Offsetof(C.podrank_job{}.succeeded)]
	_ = [1]int{}[unsafe.Offsetof(Job{}.Flags)-unsafe.Offsetof(C.podrank_job{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(JobStep{})-C.sizeof_podrank_job_step]
	_ = [1]int{}[unsafe.Offsetof(JobStep{}.Later)-unsafe.Offsetof(C.podrank_job_step{}.later)]
	_ = [1]int{}[unsafe.Sizeof(Outcome{})-C.sizeof_podrank_outcome]
	_ = [1]int{}[unsafe.Offsetof(Outcome{}.Quota)-unsafe.Offsetof(C.podrank_outcome{}.quota)]
	_ = [1]int{}[unsafe.Offsetof(Outcome{}.Reason)-unsafe.Offsetof(C.podrank_outcome{}.reason)]
	_ = [1]int{}[unsafe.Sizeof(DaemonSet{})-C.sizeof_podrank_daemon_set]
	_ = [1]int{}[unsafe.Offsetof(DaemonSet{}.Flags)-unsafe.Offsetof(C.podrank_daemon_set{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(DaemonPod{})-C.sizeof_podrank_daemon_pod]
	_ = [1]int{}[unsafe.Offsetof(DaemonPod{}.Node)-unsafe.Offsetof(C.podrank_daemon_pod{}.node)]
	_ = [1]int{}[unsafe.Offsetof(DaemonPod{}.Flags)-unsafe.Offsetof(C.podrank_daemon_pod{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(DaemonStep{})-C.sizeof_podrank_daemon_step]
	_ = [1]int{}[unsafe.Offsetof(DaemonStep{}.BlockedBy)-unsafe.Offsetof(C.podrank_daemon_step{}.blocked_by)]
	_ = [1]int{}[unsafe.Offsetof(DaemonStep{}.IsUpdate)-unsafe.Offsetof(C.podrank_daemon_step{}.is_update)]
)

// NextJob writes to outcomes what the next sync does to each pod. indexes, order and outcomes have one element per pod.
func NextJob(job *Job, pods []Record, indexes []int64, order []uint32, outcomes []Outcome) (step JobStep, err error) {
	err = failure(C.podrank_job_next(
		(*C.podrank_job)(unsafe.Pointer(job)),
		(*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(indexes))),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))),
		(*C.podrank_job_step)(unsafe.Pointer(&step))))
	return step, err
}

// JobIndex reads a completion index; -1 for none.
func JobIndex(text string) (int64, error) {
	var index C.int64_t
	err := failure(C.podrank_job_index(chars(text), C.size_t(len(text)), &index))
	return int64(index), err
}

// NextDaemonSet writes to outcomes what the next sync does to each pod. order and outcomes have one element per pod.
func NextDaemonSet(set *DaemonSet, nodes []uint8, pods []DaemonPod, order []uint32, outcomes []Outcome) (step DaemonStep, err error) {
	err = failure(C.podrank_daemon_set_next(
		(*C.podrank_daemon_set)(unsafe.Pointer(set)),
		(*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(nodes))), C.size_t(len(nodes)),
		(*C.podrank_daemon_pod)(unsafe.Pointer(unsafe.SliceData(pods))), C.size_t(len(pods)),
		(*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(order))),
		(*C.podrank_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))),
		(*C.podrank_daemon_step)(unsafe.Pointer(&step))))
	return step, err
}

// JobReasonName returns the name of a Job's reason, or "" if there is none with this number.
func JobReasonName(reason uint8) string {
	return C.GoString(C.podrank_job_reason_str(C.uint8_t(reason)))
}

// DaemonReasonName returns the name of a DaemonSet's reason, or "" if there is none with this number.
func DaemonReasonName(reason uint8) string {
	return C.GoString(C.podrank_daemon_reason_str(C.uint8_t(reason)))
}
