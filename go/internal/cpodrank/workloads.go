//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "library.h"

#cgo noescape podrank_percent_parse
#cgo nocallback podrank_percent_parse
#cgo noescape podrank_replica_set_annotations
#cgo nocallback podrank_replica_set_annotations
#cgo noescape podrank_deployment_next
#cgo nocallback podrank_deployment_next
#cgo noescape podrank_stateful_set_ordinal
#cgo nocallback podrank_stateful_set_ordinal
#cgo noescape podrank_stateful_set_next
#cgo nocallback podrank_stateful_set_next
#cgo noescape podrank_job_next
#cgo nocallback podrank_job_next
#cgo noescape podrank_job_index_parse
#cgo nocallback podrank_job_index_parse
#cgo noescape podrank_daemon_set_next
#cgo nocallback podrank_daemon_set_next
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

func (Engine) ParsePercent(text string) (uint32, error) {
	var percent C.uint32_t
	err := failure(C.podrank_percent_parse(chars(text), C.size_t(len(text)), &percent))
	return uint32(percent), err
}

func (Engine) SetAnnotations(set *core.ReplicaSet, desired, max string) error {
	return failure(C.podrank_replica_set_annotations(chars(desired), C.size_t(len(desired)), chars(max), C.size_t(len(max)),
		(*C.podrank_replica_set)(unsafe.Pointer(set))))
}

func (Engine) NextDeployment(deployment *core.Deployment, sets []core.ReplicaSet, changes []core.ReplicaSetChange) (step core.DeploymentStep, err error) {
	err = failure(C.podrank_deployment_next(
		(*C.podrank_deployment)(unsafe.Pointer(deployment)),
		(*C.podrank_replica_set)(unsafe.Pointer(unsafe.SliceData(sets))), C.size_t(len(sets)),
		(*C.podrank_replica_set_change)(unsafe.Pointer(unsafe.SliceData(changes))), C.size_t(len(changes)),
		(*C.podrank_deployment_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) ReasonName(reason uint8) string { return reasonNames()[reason] }

var reasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_deployment_reason_str(number) })

func (Engine) StatefulSetOrdinal(set, pod string) (int32, error) {
	var ordinal C.int32_t
	err := failure(C.podrank_stateful_set_ordinal(
		chars(set), C.size_t(len(set)), chars(pod), C.size_t(len(pod)), &ordinal))
	return int32(ordinal), err
}

func (Engine) NextStatefulSet(set *core.StatefulSet, members []core.StatefulSetPod, outcomes []core.StatefulSetOutcome) error {
	var step core.StatefulSetStep
	return failure(C.podrank_stateful_set_next(
		(*C.podrank_stateful_set)(unsafe.Pointer(set)),
		(*C.podrank_stateful_set_pod)(unsafe.Pointer(unsafe.SliceData(members))), C.size_t(len(members)),
		(*C.podrank_stateful_set_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))), C.size_t(len(outcomes)),
		(*C.podrank_stateful_set_step)(unsafe.Pointer(&step))))
}

func (Engine) MemberReasonName(reason uint8) string { return memberReasonNames()[reason] }

var memberReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_stateful_set_reason_str(number) })

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

// names asks for all names once.
func names(name func(C.uint8_t) *C.char) func() *[256]string {
	return sync.OnceValue(func() *[256]string {
		var names [256]string
		for number := range names {
			names[number] = C.GoString(name(C.uint8_t(number)))
		}
		return &names
	})
}

func chars(text string) *C.char {
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}
