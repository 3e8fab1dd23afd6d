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
	// from Spread; none: ranks as in Kubernetes
	domains []func(*corev1.Pod) string
}

// Now makes every decision at this time: for a single decision, a test or a replay. It is a [Clock] that stands still.
func Now(now time.Time) Option {
	return Clock(func() time.Time { return now })
}

// Clock sets the function that returns the time of a decision. Each decision calls it once. The default, also for nil, is
// time.Now. If there are several Clock and [Now] options, the last one counts. If the function returns the zero time, ages
// are not log-scaled, as in kube-controller-manager without [LogarithmicScaleDown].
func Clock(now func() time.Time) Option {
	return func(s *settings) { s.clock = now }
}

// Kubernetes chooses the pods that kube-controller-manager certainly deletes, and then contested ones by the total order (see
// [Settle]). The default is the total order alone.
func Kubernetes() Option {
	return func(s *settings) { s.kubernetes = true }
}

// Burst limits the number of pods to delete. If most is 0 or less, none go. The default is no limit.
// kube-controller-manager's limit is [BurstReplicas].
func Burst(most int) Option {
	return func(s *settings) { s.burst = &most }
}

// PodDeletionCost sets the feature gate PodDeletionCost: whether the annotation controller.kubernetes.io/pod-deletion-cost
// counts. On by default.
func PodDeletionCost(on bool) Option {
	return flag(core.PodDeletionCostOff, !on)
}

// LogarithmicScaleDown sets the feature gate LogarithmicScaleDown: whether ages between the same powers of two nanoseconds
// are equal. On by default, and always on since Kubernetes 1.31.
func LogarithmicScaleDown(on bool) Option {
	return flag(core.LogarithmicScaleDownOff, !on)
}

// PreferForScaleDown sets the feature gate PreferForScaleDown: whether pods with [PreferForScaleDownLabel] go before pods
// without it that are equal by the earlier rules. Off by default: no release of Kubernetes has it. With [Kubernetes], it
// matters only among contested pods.
func PreferForScaleDown(on bool) Option {
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
