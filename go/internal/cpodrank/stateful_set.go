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
	"sync"
	"unsafe"
)

// As in cgo.go: a difference does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(StatefulSet{})-C.sizeof_podrank_stateful_set]
	_ = [1]int{}[unsafe.Offsetof(StatefulSet{}.Start)-unsafe.Offsetof(C.podrank_stateful_set{}.start)]
	_ = [1]int{}[unsafe.Offsetof(StatefulSet{}.Partition)-unsafe.Offsetof(C.podrank_stateful_set{}.partition)]
	_ = [1]int{}[unsafe.Offsetof(StatefulSet{}.MaxUnavailable)-unsafe.Offsetof(C.podrank_stateful_set{}.max_unavailable)]
	_ = [1]int{}[unsafe.Offsetof(StatefulSet{}.Flags)-unsafe.Offsetof(C.podrank_stateful_set{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(Member{})-C.sizeof_podrank_member]
	_ = [1]int{}[unsafe.Offsetof(Member{}.Flags)-unsafe.Offsetof(C.podrank_member{}.flags)]
	_ = [1]int{}[unsafe.Sizeof(MemberOutcome{})-C.sizeof_podrank_member_outcome]
	_ = [1]int{}[unsafe.Offsetof(MemberOutcome{}.By)-unsafe.Offsetof(C.podrank_member_outcome{}.by)]
	_ = [1]int{}[unsafe.Offsetof(MemberOutcome{}.ByOrdinal)-unsafe.Offsetof(C.podrank_member_outcome{}.by_ordinal)]
	_ = [1]int{}[unsafe.Offsetof(MemberOutcome{}.Verdict)-unsafe.Offsetof(C.podrank_member_outcome{}.verdict)]
	_ = [1]int{}[unsafe.Offsetof(MemberOutcome{}.Reason)-unsafe.Offsetof(C.podrank_member_outcome{}.reason)]

	_ = [1]int{}[StatefulParallel-C.PODRANK_STATEFUL_PARALLEL]
	_ = [1]int{}[StatefulBeingDeleted-C.PODRANK_STATEFUL_BEING_DELETED]
	_ = [1]int{}[StatefulOnDelete-C.PODRANK_STATEFUL_ON_DELETE]
	_ = [1]int{}[StatefulRecreate-C.PODRANK_STATEFUL_RECREATE]
	_ = [1]int{}[StatefulUnavailablePercent-C.PODRANK_STATEFUL_UNAVAILABLE_PERCENT]
	_ = [1]int{}[StatefulNoMaxUnavailable-C.PODRANK_STATEFUL_NO_MAX_UNAVAILABLE]
	_ = [1]int{}[StatefulRecreateGate-C.PODRANK_STATEFUL_RECREATE_GATE]
	_ = [1]int{}[MemberRunning-C.PODRANK_MEMBER_IS_RUNNING]
	_ = [1]int{}[MemberFinished-C.PODRANK_MEMBER_IS_FINISHED]
	_ = [1]int{}[MemberReady-C.PODRANK_MEMBER_IS_READY]
	_ = [1]int{}[MemberAvailable-C.PODRANK_MEMBER_IS_AVAILABLE]
	_ = [1]int{}[MemberTerminating-C.PODRANK_MEMBER_IS_TERMINATING]
	_ = [1]int{}[MemberUpdated-C.PODRANK_MEMBER_IS_UPDATED]
	_ = [1]int{}[NoMember-C.PODRANK_NO_MEMBER]
	_ = [1]int{}[MemberKeep-C.PODRANK_VERDICT_KEEP]
	_ = [1]int{}[MemberDelete-C.PODRANK_VERDICT_DELETE]
	_ = [1]int{}[MemberContested-C.PODRANK_VERDICT_CONTESTED]
	_ = [1]int{}[MemberBlocked-C.PODRANK_VERDICT_BLOCKED]
)

// Ordinal returns the ordinal in the name of a pod of the StatefulSet called set, or -1.
func Ordinal(set, pod string) (int32, error) {
	var ordinal C.int32_t
	err := failure(C.podrank_stateful_set_ordinal(
		chars(set), C.size_t(len(set)), chars(pod), C.size_t(len(pod)), &ordinal))
	return int32(ordinal), err
}

// NextStatefulSet writes to outcomes what the next sync does with each member. outcomes has one element per member.
func NextStatefulSet(set *StatefulSet, members []Member, outcomes []MemberOutcome) error {
	var step C.podrank_stateful_set_step
	return failure(C.podrank_stateful_set_next(
		(*C.podrank_stateful_set)(unsafe.Pointer(set)),
		(*C.podrank_member)(unsafe.Pointer(unsafe.SliceData(members))), C.size_t(len(members)),
		(*C.podrank_member_outcome)(unsafe.Pointer(unsafe.SliceData(outcomes))), &step))
}

var memberReasonNames = sync.OnceValue(func() *[256]string {
	var names [256]string
	for reason := range names {
		names[reason] = C.GoString(C.podrank_stateful_set_reason_str(C.uint8_t(reason)))
	}
	return &names
})

// MemberReasonName returns the name of the reason of an outcome with this number, or "" if there is none.
func MemberReasonName(reason uint8) string {
	return memberReasonNames()[reason]
}
