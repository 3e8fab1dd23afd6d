package cpodrank

// A Job is C's podrank_job.
type Job struct {
	Parallelism, Completions, Succeeded int32
	Flags                               uint32
	_                                   [16]byte
}

// The bits of Job.Flags.
const (
	JobCompletions  = 1
	JobIndexed      = 2
	JobSuspended    = 4
	JobEnding       = 8
	JobLeftAlone    = 16
	JobBeingDeleted = 32
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
	NoNode = 1<<32 - 1
	NoPod  = 1<<32 - 1
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
