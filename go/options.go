package podrank

import (
	"time"

	"github.com/podrank/podrank/go/internal/core"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BurstReplicas is the most pods that kube-controller-manager creates or deletes in one sync.
const BurstReplicas = 500

var _ = [1]int{}[BurstReplicas-core.BurstReplicas]

// An Option changes how pods are chosen.
type Option func(*settings)

type settings struct {
	// of an option that is wrong: nothing is decided
	err   error
	flags uint32
	// PreferForScaleDown is on: labels are read
	labels bool
	// nil: time.Now
	clock      func() time.Time
	kubernetes bool
	// nil: no limit
	burst *int
	// nil: all pods in one tier
	tier func(*corev1.Pod) int
	// nil: none
	fixed func(*corev1.Pod) bool
	// nil: counted among the related pods
	ranks func(*corev1.Pod) int
	// of WithSpread; none: ranks as in Kubernetes
	domains []func(*corev1.Pod) string
}

// WithNow decides at this one moment, whenever that is: for a single decision, a test or a replay. It is a [WithClock] that stands.
func WithNow(now time.Time) Option {
	return WithClock(func() time.Time { return now })
}

// WithClock is asked for the time once in each decision, as a [Ranker] makes many; the default, and nil, is time.Now. Of several
// WithClock and [WithNow] the last counts. The zero time means no moment at all: ages are not log-scaled, as in Kubernetes.
func WithClock(now func() time.Time) Option {
	return func(s *settings) { s.clock = now }
}

// Kubernetes chooses the pods that kube-controller-manager certainly deletes, and then contested ones by the total order (see
// [Settle]). The default is the total order alone.
func Kubernetes() Option {
	return func(s *settings) { s.kubernetes = true }
}

// WithRanks gives each pod the rank that a function says, from 0 to 4294967295, in place of the number of related pods on its node:
// the higher rank goes first among pods of one deletion cost. [WithSpread] then changes nothing. nil, the default, counts.
func WithRanks(of func(*corev1.Pod) int) Option {
	return func(s *settings) { s.ranks = of }
}

// WithBurst caps the number of deletions; at 0 or less, none go. The default is no cap; kube-controller-manager's is
// [BurstReplicas].
func WithBurst(most int) Option {
	return func(s *settings) { s.burst = &most }
}

// WithPodDeletionCost sets the feature gate of this name, on by default: the annotation
// controller.kubernetes.io/pod-deletion-cost counts.
func WithPodDeletionCost(on bool) Option {
	return flag(core.PodDeletionCostOff, !on)
}

// WithLogarithmicScaleDown sets the feature gate of this name, on by default: ages between the same powers of two nanoseconds
// are equal. Kubernetes has it locked on since 1.31.
func WithLogarithmicScaleDown(on bool) Option {
	return flag(core.LogarithmicScaleDownOff, !on)
}

// WithPreferForScaleDown lets pods with [PreferForScaleDownLabel] go first among equals. Off by default: no release of Kubernetes
// has it, and with [Kubernetes] it matters among contested pods alone.
func WithPreferForScaleDown(on bool) Option {
	gate := flag(core.PreferForScaleDownOn, on)
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

// capped returns how many of diff pods may go.
func (s *settings) capped(diff int) int {
	if s.burst != nil {
		diff = min(diff, *s.burst)
	}
	return max(diff, 0)
}

func (s *settings) options() core.Options {
	clock := s.clock
	if clock == nil {
		clock = time.Now
	}
	now := nanos(&metav1.Time{Time: clock()})
	if now == core.Unset {
		return core.Options{Flags: s.flags}
	}
	return core.Options{Flags: s.flags | core.Now, Now: now}
}

// clockOf stands at the moment of these options.
func clockOf(options core.Options) func() time.Time {
	now := time.Time{}
	if options.Flags&core.Now != 0 {
		now = time.Unix(0, options.Now)
	}
	return func() time.Time { return now }
}
