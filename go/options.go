package podrank

import (
	"time"

	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
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
	// nil: time.Now
	clock      func() time.Time
	kubernetes bool
	// nil: no cap
	burst *int
	// nil: all pods in one tier
	tier func(*corev1.Pod) int
	// nil: none
	fixed func(*corev1.Pod) bool
	// of Spread; none: ranks as in Kubernetes
	domains []func(*corev1.Pod) string
}

// Now decides at this one moment, whenever that is: for a single decision, a test or a replay. It is a [Clock] that stands.
func Now(now time.Time) Option {
	return Clock(func() time.Time { return now })
}

// Clock is asked for the time once in each decision, as a [Ranker] makes many; the default, and nil, is time.Now. Of several
// Clock and [Now] the last counts. The zero time means no moment at all: ages are not log-scaled, as in Kubernetes.
func Clock(now func() time.Time) Option {
	return func(s *settings) { s.clock = now }
}

// Kubernetes chooses as kube-controller-manager does as far as its comparator determines it: the certain victims first, then
// contested ones by the total order. The default is the total order.
func Kubernetes() Option {
	return func(s *settings) { s.kubernetes = true }
}

// Burst caps the number of deletions; at 0 or less, none go. The default is no cap; kube-controller-manager's is
// [BurstReplicas].
func Burst(most int) Option {
	return func(s *settings) { s.burst = &most }
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

// capped is how many of diff may go.
func (s *settings) capped(diff int) int {
	if s.burst != nil {
		diff = min(diff, *s.burst)
	}
	return max(diff, 0)
}

func (s *settings) options() cpodrank.Options {
	clock := s.clock
	if clock == nil {
		clock = time.Now
	}
	now := nanos(&metav1.Time{Time: clock()})
	if now == cpodrank.Unset {
		return cpodrank.Options{Flags: s.flags}
	}
	return cpodrank.Options{Flags: s.flags | cpodrank.Now, Now: now}
}
