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

// As in cgo.go: a difference does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(core.StatefulSet{})-C.sizeof_podrank_stateful_set]
	_ = [1]int{}[unsafe.Offsetof(core.StatefulSet{}.Start)-unsafe.Offsetof(C.podrank_stateful_set{}.start)]
	_ = [1]int{}[unsafe.Offsetof(core.StatefulSet{}.Partition)-unsafe.Offsetof(C.podrank_stateful_set{}.partition)]
	_ = [1]int{}[unsafe.Offsetof(core.StatefulSet{}.MaxUnavailable)-unsafe.Offsetof(C.podrank_stateful_set{}.max_unavailable)]
	_ = [1]int{}[unsafe.Offsetof(core.StatefulSet{}.Flags)-unsafe.Offsetof(C.podrank_stateful_set{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.Member{})-C.sizeof_podrank_member]
	_ = [1]int{}[unsafe.Offsetof(core.Member{}.Flags)-unsafe.Offsetof(C.podrank_member{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(core.StatefulSetStep{})-C.sizeof_podrank_stateful_set_step]
	_ = [1]int{}[unsafe.Sizeof(core.MemberOutcome{})-C.sizeof_podrank_member_outcome]
	_ = [1]int{}[unsafe.Offsetof(core.MemberOutcome{}.By)-unsafe.Offsetof(C.podrank_member_outcome{}.by)]
	_ = [1]int{}[unsafe.Offsetof(core.MemberOutcome{}.ByOrdinal)-unsafe.Offsetof(C.podrank_member_outcome{}.by_ordinal)]
	_ = [1]int{}[unsafe.Offsetof(core.MemberOutcome{}.Verdict)-unsafe.Offsetof(C.podrank_member_outcome{}.verdict)]
	_ = [1]int{}[unsafe.Offsetof(core.MemberOutcome{}.Reason)-unsafe.Offsetof(C.podrank_member_outcome{}.reason)]

	_ = [1]int{}[core.StatefulParallel-C.PODRANK_STATEFUL_PARALLEL]
	_ = [1]int{}[core.StatefulBeingDeleted-C.PODRANK_STATEFUL_BEING_DELETED]
	_ = [1]int{}[core.StatefulOnDelete-C.PODRANK_STATEFUL_ON_DELETE]
	_ = [1]int{}[core.StatefulRecreate-C.PODRANK_STATEFUL_RECREATE]
	_ = [1]int{}[core.StatefulUnavailablePercent-C.PODRANK_STATEFUL_UNAVAILABLE_PERCENT]
	_ = [1]int{}[core.StatefulNoMaxUnavailable-C.PODRANK_STATEFUL_NO_MAX_UNAVAILABLE]
	_ = [1]int{}[core.StatefulRecreateGate-C.PODRANK_STATEFUL_RECREATE_GATE]
	_ = [1]int{}[core.MemberRunning-C.PODRANK_MEMBER_IS_RUNNING]
	_ = [1]int{}[core.MemberFinished-C.PODRANK_MEMBER_IS_FINISHED]
	_ = [1]int{}[core.MemberReady-C.PODRANK_MEMBER_IS_READY]
	_ = [1]int{}[core.MemberAvailable-C.PODRANK_MEMBER_IS_AVAILABLE]
	_ = [1]int{}[core.MemberTerminating-C.PODRANK_MEMBER_IS_TERMINATING]
	_ = [1]int{}[core.MemberUpdated-C.PODRANK_MEMBER_IS_UPDATED]
	_ = [1]int{}[core.NoMember-C.PODRANK_NO_MEMBER]
	_ = [1]int{}[core.MemberKeep-C.PODRANK_VERDICT_KEEP]
	_ = [1]int{}[core.MemberDelete-C.PODRANK_VERDICT_DELETE]
	_ = [1]int{}[core.MemberContested-C.PODRANK_VERDICT_CONTESTED]
	_ = [1]int{}[core.MemberBlocked-C.PODRANK_VERDICT_BLOCKED]
)

func (Engine) StatefulSetOrdinal(set, pod string) (int32, error) {
	var ordinal C.int32_t
	err := failure(C.podrank_stateful_set_ordinal(
		chars(set), C.size_t(len(set)), chars(pod), C.size_t(len(pod)), &ordinal))
	return int32(ordinal), err
}

func (Engine) NextStatefulSet(set *core.StatefulSet, members []core.Member, outcomes []core.MemberOutcome) error {
	var step core.StatefulSetStep
	return failure(C.podrank_stateful_set_next(
		(*C.podrank_stateful_set)(unsafe.Pointer(set)),
		(*C.podrank_member)(unsafe.Pointer(unsafe.SliceData(members))), C.size_t(len(members)),
		(*C.podrank_member_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))),
		(*C.podrank_stateful_set_step)(unsafe.Pointer(&step))))
}

func (Engine) MemberReasonName(reason uint8) string { return memberReasonNames()[reason] }

var memberReasonNames = names(func(number C.uint8_t) *C.char { return C.podrank_stateful_set_reason_str(number) })
