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
