// Package cpodrank is the only cgo of the module: the C functions of libpodrank, over records and numbers.
//
// The header and the archives stand beside the files that use them, so that `go get` and vendoring take them along.
package cpodrank

import (
	"errors"
	"math"
)

// Unset is the time of a missing timestamp.
const Unset = math.MinInt64

// What is true of a pod.
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

// A Record is C's podrank_pod: asserted where cgo is there to ask.
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
	_               [10]byte
}

// Options are C's podrank_options, but for the size.
type Options struct {
	Flags uint32
	Now   int64
}

// A Scratch is C's podrank_scratch.
type Scratch [8]uint64

// A Row is C's podrank_row.
type Row struct {
	A, B     int64
	Rule     uint8
	Applies  uint8
	Decides  uint8
	Kind     uint8
	Ordering int32
}

// What the two numbers of a Row are.
const (
	KindBool      = 1
	KindPhase     = 2
	KindNumber    = 3
	KindTime      = 4
	KindAgeBucket = 5
	KindUID       = 6
)

// MaxRows is the room that Explain needs.
const MaxRows = 16

// A SlowStart is C's podrank_slow_start.
type SlowStart struct {
	Batch, Missing uint32
}

// Expectations are C's podrank_expectations: none if they are zero.
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

// NoSet is a Step's NewSet where there is none.
const NoSet = math.MaxUint32

// The numbers of a Step's Path.
const (
	PathNothing  = 0
	PathScale    = 10
	PathRoll     = 20
	PathRecreate = 30
	PathRollback = 40
)

// The numbers of kube-controller-manager, the timeout in nanoseconds.
const (
	BurstReplicas       = 500
	ExpectationsTimeout = 300_000_000_000
)

// ErrMissing says why there is no libpodrank in this program.
var ErrMissing = errors.New("podrank: built without libpodrank: it needs cgo (CGO_ENABLED=1 and a C compiler) on " +
	"linux/amd64 or linux/arm64; on other 64-bit machines, install the C library and build with -tags podrank_system")
