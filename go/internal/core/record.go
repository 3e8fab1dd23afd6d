// Package core has what all engines share: the records and numbers of podrank.h, and what an engine does with them. It
// imports nothing of the module.
package core

import (
	"errors"
	"math"
)

// Unset is the time of a missing timestamp.
const Unset = math.MinInt64

// The bits of Record.Flags.
const (
	Assigned  = 1
	Ready     = 2
	Preferred = 4
)

// The phases.
const (
	Pending = 0
	Unknown = 1
	Running = 2
)

// The bits of Options.Flags.
const (
	Now                     = 1
	PodDeletionCostOff      = 2
	LogarithmicScaleDownOff = 4
	PreferForScaleDownOn    = 8
)

// A Record is C's podrank_pod: internal/cpodrank asserts the layouts where cgo is there to ask.
type Record struct {
	UID             [16]byte
	ReadyTime       int64
	CreationTime    int64
	DeletionCost    int32
	Rank            uint32
	Restarts        uint32
	SidecarRestarts uint32
	Node            uint32
	Phase           uint8
	Flags           uint8
	Tier            uint16
	_               [8]byte
}

// Options are C's podrank_options, without the size.
type Options struct {
	Flags uint32
	Now   int64
}

// A Scratch is C's podrank_scratch.
type Scratch [8]uint64

// A SteerScratch is C's podrank_steer_scratch.
type SteerScratch [2]uint64

// A Blocked is C's podrank_blocked.
type Blocked struct {
	Pod, Before uint32
	Rule        uint8
	_           [3]byte
}

// Steered is C's podrank_steered.
type Steered struct {
	Changed, Blocked, Lower, Higher uint32
}

// A Row is C's podrank_row.
type Row struct {
	A, B     int64
	Rule     uint8
	Applies  uint8
	Decides  uint8
	Kind     uint8
	Ordering int32
}

// The values of Row.Kind.
const (
	KindBool      = 1
	KindPhase     = 2
	KindNumber    = 3
	KindTime      = 4
	KindAgeBucket = 5
	KindUID       = 6
)

// MaxRows is the most rows that Explain writes.
const MaxRows = 16

// A SlowStart is C's podrank_slow_start.
type SlowStart struct {
	Batch, Missing uint32
}

// Expectations are C's podrank_expectations. The zero value has none.
type Expectations struct {
	Since, Creations, Deletions int64
	Keys, IsSet                 uint32
}

// A PodKey is C's podrank_pod_key.
type PodKey [16]byte

// A Deployment is C's podrank_deployment.
type Deployment struct {
	Replicas, StatusReplicas, MaxSurge, MaxUnavailable int32
	Flags                                              uint32
	_                                                  [12]byte
}

// The bits of Deployment.Flags.
const (
	Paused             = 1
	BeingDeleted       = 2
	RollingBack        = 4
	Recreate           = 8
	SurgePercent       = 16
	UnavailablePercent = 32
	OldPodsRun         = 64
)

// A ReplicaSet is C's podrank_replica_set.
type ReplicaSet struct {
	CreationTime                                int64
	NameOrder                                   uint32
	Replicas, StatusReplicas, AvailableReplicas int32
	DesiredReplicas, MaxReplicas                int32
	Flags                                       uint8
	_                                           [15]byte
}

// CurrentTemplate is the bit of ReplicaSet.Flags that SetAnnotations does not write.
const CurrentTemplate = 1

// A Change is C's podrank_replica_set_change.
type Change struct {
	Replicas, Part int32
	Reason         uint8
	_              [7]byte
}

// A Step is C's podrank_deployment_step.
type Step struct {
	Surge, Unavailable    int32
	NewSet                uint32
	Path, Creates, GoesOn uint8
	_                     uint8
	NewChange             Change
}

// NoSet is a Step's NewSet if the new set does not exist yet.
const NoSet = math.MaxUint32

// The values of Step.Path.
const (
	PathNothing  = 0
	PathScale    = 10
	PathRoll     = 20
	PathRecreate = 30
	PathRollback = 40
)

// The numbers that kube-controller-manager uses. The timeout is in nanoseconds.
const (
	BurstReplicas       = 500
	ExpectationsTimeout = 300_000_000_000
)

// ErrNoRoom is the error if fixed deletion costs leave no room for the tiers. Steered then has the indices of two pods.
var ErrNoRoom = errors.New("podrank: the fixed deletion costs leave no room")

// The statuses of calls that engines look at, and the relations that Upstream tells apart.
const (
	StatusOK       = 0
	StatusNoRoom   = 26
	RelationBefore = 1
	RelationAfter  = 2
)
