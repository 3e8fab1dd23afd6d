package podrank

import (
	"time"

	"github.com/podrank/podrank/go/internal/cpodrank"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BurstReplicas is how many pods kube-controller-manager creates or deletes in one sync at most.
const BurstReplicas = 500

var _ = [1]int{}[BurstReplicas-cpodrank.BurstReplicas]

// An Option changes how pods are chosen.
type Option func(*settings)

type settings struct {
	flags uint32
	// PreferForScaleDown is on: labels are looked at
	labels bool
	// nil: the clock, at every call
	now        *int64
	kubernetes bool
	burst      int
}

// Now decides at a fixed moment; the default is the clock at the time of the call. The zero time means no moment at all:
// ages are not log-scaled, as in Kubernetes.
func Now(now time.Time) Option {
	at := nanos(&metav1.Time{Time: now})
	return func(s *settings) { s.now = &at }
}

// Kubernetes chooses as kube-controller-manager does as far as its comparator determines it: the certain victims first, then
// contested ones by the total order. The default is the total order.
func Kubernetes() Option {
	return func(s *settings) { s.kubernetes = true }
}

// Burst caps the number of deletions. The default is no cap; kube-controller-manager's is [BurstReplicas].
func Burst(most int) Option {
	return func(s *settings) { s.burst = max(most, 0) }
}

// PodDeletionCost sets the feature gate of this name, on by default: the annotation
// controller.kubernetes.io/pod-deletion-cost counts.
func PodDeletionCost(on bool) Option {
	return flag(cpodrank.PodDeletionCostOff, !on)
}

// LogarithmicScaleDown sets the feature gate of this name, on by default: ages between the same powers of two nanoseconds
// are equal. Kubernetes has it locked on since 1.31.
func LogarithmicScaleDown(on bool) Option {
	return flag(cpodrank.LogarithmicScaleDownOff, !on)
}

// PreferForScaleDown lets pods with [PreferForScaleDownLabel] go first among equals. Off by default: no release of Kubernetes
// has it, and with [Kubernetes] it matters among contested pods alone.
func PreferForScaleDown(on bool) Option {
	gate := flag(cpodrank.PreferForScaleDownOn, on)
	return func(s *settings) {
		gate(s)
		s.labels = on
	}
}

func flag(bit uint32, set bool) Option {
	return func(s *settings) {
		s.flags &^= bit
		if set {
			s.flags |= bit
		}
	}
}

func (s *settings) options() cpodrank.Options {
	switch {
	case s.now == nil:
		return cpodrank.Options{Flags: s.flags | cpodrank.Now, Now: time.Now().UnixNano()}
	case *s.now == cpodrank.Unset:
		return cpodrank.Options{Flags: s.flags}
	}
	return cpodrank.Options{Flags: s.flags | cpodrank.Now, Now: *s.now}
}
