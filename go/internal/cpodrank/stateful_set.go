//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package cpodrank

/*
#include "podrank.h"

#cgo noescape podrank_stateful_set_ordinal
#cgo nocallback podrank_stateful_set_ordinal
#cgo noescape podrank_stateful_set_next
#cgo nocallback podrank_stateful_set_next
*/
import "C"

import (
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

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
