package core

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

// A StatefulSetStep is C's podrank_stateful_set_step.
type StatefulSetStep struct {
	Deleted, Contested, Blocked uint32
	_                           uint32
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

// A Job is C's podrank_job.
type Job struct {
	Parallelism, Completions, Succeeded           int32
	Flags                                         uint32
	Failed, BackoffLimit, Restarts, FailedIndexes int32
	ActiveDeadlineSeconds, StartTime              int64
	MaxFailedIndexes                              int32
	_                                             [12]byte
}

// The bits of Job.Flags.
const (
	JobCompletions      = 1
	JobIndexed          = 2
	JobSuspended        = 4
	JobEnding           = 8
	JobLeftAlone        = 16
	JobBeingDeleted     = 32
	JobPodFailurePolicy = 64
	JobSuccessPolicy    = 128
	JobDeadline         = 256
	JobMaxFailedIndexes = 512
)

// A JobStep is C's podrank_job_step.
type JobStep struct {
	Wanted, Deleted, Later uint32
	_                      uint32
}

// An Outcome is C's podrank_outcome.
type Outcome struct {
	Group, Quota    uint32
	Verdict, Reason uint8
	_               [2]byte
}

// A DaemonSet is C's podrank_daemon_set.
type DaemonSet struct {
	MaxSurge, MaxUnavailable int32
	Flags                    uint32
	_                        [20]byte
}

// The bits of DaemonSet.Flags.
const (
	DaemonOnDelete           = 1
	DaemonBeingDeleted       = 2
	DaemonSurgePercent       = 4
	DaemonUnavailablePercent = 8
)

// A DaemonPod is C's podrank_daemon_pod.
type DaemonPod struct {
	CreationTime    int64
	NameOrder, Node uint32
	Flags           uint8
	_               [7]byte
}

// NoNode is the node of a pod that the controller does not see, and NoPod the index of none.
const (
	NoNode = math.MaxUint32
	NoPod  = math.MaxUint32
)

// The bits of DaemonPod.Flags.
const (
	DaemonPodAssigned          = 1
	DaemonPodReady             = 2
	DaemonPodAvailable         = 4
	DaemonPodCurrentRevision   = 8
	DaemonPodCurrentGeneration = 16
	DaemonPodSucceeded         = 32
	DaemonPodFailed            = 64
	DaemonPodBeingDeleted      = 128
)

// The bits of a node.
const (
	NodeExists    = 1
	NodeMayStart  = 2
	NodeMayKeep   = 4
	NodeInBackoff = 8
)

// A DaemonStep is C's podrank_daemon_step.
type DaemonStep struct {
	Surge, Unavailable                                          int64
	Wanted, Used, Available, Deleted, Creates, Later, BlockedBy uint32
	IsUpdate                                                    uint8
	_                                                           [3]byte
}
