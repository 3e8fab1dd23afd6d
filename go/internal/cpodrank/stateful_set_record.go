package cpodrank

import "math"

// A StatefulSet is C's podrank_stateful_set.
type StatefulSet struct {
	Replicas, Start, Partition, MaxUnavailable int32
	Flags                                      uint32
	_                                          [12]byte
}

// The bits of StatefulSet.Flags.
const (
	StatefulParallel           = 1
	StatefulBeingDeleted       = 2
	StatefulOnDelete           = 4
	StatefulRecreate           = 8
	StatefulUnavailablePercent = 16
	StatefulNoMaxUnavailable   = 32
	StatefulRecreateGate       = 64
)

// A Member is C's podrank_member.
type Member struct {
	Ordinal int32
	Flags   uint8
	_       [3]byte
}

// The bits of Member.Flags.
const (
	MemberRunning     = 1
	MemberFinished    = 2
	MemberReady       = 4
	MemberAvailable   = 8
	MemberTerminating = 16
	MemberUpdated     = 32
)

// A MemberOutcome is C's podrank_member_outcome.
type MemberOutcome struct {
	Member, By      uint32
	ByOrdinal       int32
	Verdict, Reason uint8
	_               [2]byte
}

// NoMember is a MemberOutcome's By if it waits for no pod that exists.
const NoMember = math.MaxUint32

// The values of MemberOutcome.Verdict.
const (
	MemberKeep      = 0
	MemberDelete    = 1
	MemberContested = 2
	MemberBlocked   = 3
)
