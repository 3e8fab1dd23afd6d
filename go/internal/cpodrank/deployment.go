//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "podrank.h"

#cgo noescape podrank_percent_parse
#cgo nocallback podrank_percent_parse
#cgo noescape podrank_replica_set_annotations
#cgo nocallback podrank_replica_set_annotations
#cgo noescape podrank_deployment_next
#cgo nocallback podrank_deployment_next
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

// As in cgo.go: a difference does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(core.Deployment{})-C.sizeof_podrank_deployment]
	_ = [1]int{}[unsafe.Offsetof(core.Deployment{}.Replicas)-unsafe.Offsetof(C.podrank_deployment{}.replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.Deployment{}.StatusReplicas)-unsafe.Offsetof(C.podrank_deployment{}.status_replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.Deployment{}.MaxSurge)-unsafe.Offsetof(C.podrank_deployment{}.max_surge)]
	_ = [1]int{}[unsafe.Offsetof(core.Deployment{}.MaxUnavailable)-unsafe.Offsetof(C.podrank_deployment{}.max_unavailable)]
	_ = [1]int{}[unsafe.Offsetof(core.Deployment{}.Flags)-unsafe.Offsetof(C.podrank_deployment{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.ReplicaSet{})-C.sizeof_podrank_replica_set]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.CreationTime)-unsafe.Offsetof(C.podrank_replica_set{}.creation_time)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.NameOrder)-unsafe.Offsetof(C.podrank_replica_set{}.name_order)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.Replicas)-unsafe.Offsetof(C.podrank_replica_set{}.replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.StatusReplicas)-unsafe.Offsetof(C.podrank_replica_set{}.status_replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.AvailableReplicas)-unsafe.Offsetof(C.podrank_replica_set{}.available_replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.DesiredReplicas)-unsafe.Offsetof(C.podrank_replica_set{}.desired_replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.MaxReplicas)-unsafe.Offsetof(C.podrank_replica_set{}.max_replicas)]
	_ = [1]int{}[unsafe.Offsetof(core.ReplicaSet{}.Flags)-unsafe.Offsetof(C.podrank_replica_set{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.Change{})-C.sizeof_podrank_replica_set_change]
	_ = [1]int{}[unsafe.Offsetof(core.Change{}.Part)-unsafe.Offsetof(C.podrank_replica_set_change{}.part)]
	_ = [1]int{}[unsafe.Offsetof(core.Change{}.Reason)-unsafe.Offsetof(C.podrank_replica_set_change{}.reason)]
	_ = [1]int{}[unsafe.Sizeof(core.Step{})-C.sizeof_podrank_deployment_step]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.Unavailable)-unsafe.Offsetof(C.podrank_deployment_step{}.unavailable)]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.NewSet)-unsafe.Offsetof(C.podrank_deployment_step{}.new_set)]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.Path)-unsafe.Offsetof(C.podrank_deployment_step{}.path)]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.Creates)-unsafe.Offsetof(C.podrank_deployment_step{}.creates)]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.GoesOn)-unsafe.Offsetof(C.podrank_deployment_step{}.goes_on)]
	_ = [1]int{}[unsafe.Offsetof(core.Step{}.NewChange)-unsafe.Offsetof(C.podrank_deployment_step{}.new_change)]

	_ = [1]int{}[core.Paused-C.PODRANK_DEPLOYMENT_PAUSED]
	_ = [1]int{}[core.BeingDeleted-C.PODRANK_DEPLOYMENT_BEING_DELETED]
	_ = [1]int{}[core.RollingBack-C.PODRANK_DEPLOYMENT_ROLLING_BACK]
	_ = [1]int{}[core.Recreate-C.PODRANK_DEPLOYMENT_RECREATE]
	_ = [1]int{}[core.SurgePercent-C.PODRANK_DEPLOYMENT_SURGE_PERCENT]
	_ = [1]int{}[core.UnavailablePercent-C.PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT]
	_ = [1]int{}[core.OldPodsRun-C.PODRANK_DEPLOYMENT_OLD_PODS_RUN]
	_ = [1]int{}[core.CurrentTemplate-C.PODRANK_SET_CURRENT_TEMPLATE]
	_ = [1]int{}[core.NoSet-C.PODRANK_NO_SET]
	_ = [1]int{}[core.PathNothing-C.PODRANK_PATH_NOTHING]
	_ = [1]int{}[core.PathScale-C.PODRANK_PATH_SCALE]
	_ = [1]int{}[core.PathRoll-C.PODRANK_PATH_ROLL]
	_ = [1]int{}[core.PathRecreate-C.PODRANK_PATH_RECREATE]
	_ = [1]int{}[core.PathRollback-C.PODRANK_PATH_ROLLBACK]
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

func (Engine) NextDeployment(deployment *core.Deployment, sets []core.ReplicaSet, changes []core.Change) (step core.Step, err error) {
	err = failure(C.podrank_deployment_next(
		(*C.podrank_deployment)(unsafe.Pointer(deployment)),
		(*C.podrank_replica_set)(unsafe.Pointer(unsafe.SliceData(sets))), C.size_t(len(sets)),
		(*C.podrank_replica_set_change)(unsafe.Pointer(unsafe.SliceData(changes))),
		(*C.podrank_deployment_step)(unsafe.Pointer(&step))))
	return step, err
}

func (Engine) ReasonName(reason uint8) string { return reasonNames()[reason] }

var reasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_reason_str(number) })

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
