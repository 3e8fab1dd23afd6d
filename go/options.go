package podrank

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BurstReplicas is the most pods that kube-controller-manager creates or deletes in one sync.
const BurstReplicas = 500

var _ = [1]int{}[BurstReplicas-core.PlanBurstReplicas]

// An Option changes how pods are chosen.
type Option func(*settings)

type settings struct {
	// of an option that is wrong: nothing is decided
	err error
	// the options that not every function can apply, if given
	given set
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
	// nil: 1 for all
	price func(*corev1.Pod) int
	// nil: counted among the related pods
	ranks func(*corev1.Pod) int
	// of WithSpread; none: ranks as in Kubernetes
	domains []func(*corev1.Pod) string
	// nil: nodes do not matter but for ranks
	empty *EmptyNodes
}

// WithNow decides at this time, for a single decision, a test or a replay. It is a [WithClock] that always returns now.
func WithNow(now time.Time) Option {
	return WithClock(func() time.Time { return now })
}

// WithClock calls now once for each decision, as a [Ranker] makes many. The default is time.Now. Of several WithClock and
// [WithNow], the last counts. If now returns the zero time, ages are not log-scaled, as in Kubernetes.
func WithClock(now func() time.Time) Option {
	return give(0, now != nil, "WithClock: now", func(s *settings) { s.clock = now })
}

// Kubernetes chooses the pods that kube-controller-manager certainly deletes, and then possible ones by the total order (see
// [Predict]). The default is the total order alone. Use this option if your workload should delete the pods that a ReplicaSet
// would. It excludes [WithSpread] and [WithEmptyNodes]. [Explain], [Steer] and [UnsteerablePods] do not accept it.
func Kubernetes() Option {
	return give(givenKubernetes, true, "", func(s *settings) { s.kubernetes = true })
}

// WithRanks gives each pod the rank that a function returns, from 0 to 4294967295, in place of the number of related
// pods on its node. Among pods of one deletion cost, those of a higher rank are deleted first. It excludes
// [WithSpread]. [Steer] and [UnsteerablePods] do not accept it.
func WithRanks(of func(*corev1.Pod) int) Option {
	return give(givenRanks, of != nil, "WithRanks: of", func(s *settings) { s.ranks = of })
}

// WithBurst limits the number of deletions. With 0 or less, no pod is deleted. By default there is no limit. The limit
// of kube-controller-manager is [BurstReplicas]. [Explain], [Steer] and [UnsteerablePods] do not accept it.
func WithBurst(most int) Option {
	return give(givenBurst, true, "", func(s *settings) { s.burst = &most })
}

// WithPodDeletionCost sets the feature gate of this name, on by default: the annotation
// controller.kubernetes.io/pod-deletion-cost counts. [Steer] and [UnsteerablePods] cannot work without it.
func WithPodDeletionCost(on bool) Option {
	return flag(core.OptionsPodDeletionCostOff, !on)
}

// WithLogarithmicScaleDown sets the feature gate of this name, on by default: ages between the same powers of two nanoseconds
// are equal. Kubernetes has it locked on since 1.31.
func WithLogarithmicScaleDown(on bool) Option {
	return flag(core.OptionsLogarithmicScaleDownOff, !on)
}

// WithPreferForScaleDown prefers to delete pods with [PreferForScaleDownLabel] among equals. It is off by default,
// because no release of Kubernetes has it. With [Kubernetes], it only decides between possible pods. [Predict], [Probabilities],
// [Steer] and [UnsteerablePods] do not accept it.
func WithPreferForScaleDown(on bool) Option {
	return flag(core.OptionsPreferForScaleDownOn, on)
}

func flag(bit uint32, set bool) Option {
	return func(s *settings) {
		s.flags &^= bit
		if set {
			s.flags |= bit
		}
	}
}

// capped returns how many of diff pods may be deleted.
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
	if now == core.TimeUnset {
		return core.Options{Flags: s.flags}
	}
	return core.Options{Flags: s.flags | core.OptionsNow, Now: now}
}

// A set has bits for options.
type set uint

const (
	givenKubernetes set = 1 << iota
	givenBurst
	givenSpread
	givenRanks
	givenPreferred
	givenTier
	givenFixed
	givenPrice
	givenEmptyNodes
)

var givenNames = [...]string{
	"Kubernetes", "WithBurst", "WithSpread", "WithRanks", "WithPreferForScaleDown", "WithTier", "WithFixed", "WithPrice", "WithEmptyNodes",
}

// The options that functions can apply. All accept the time and Kubernetes' own feature gates.
const (
	victimsApply = givenKubernetes | givenBurst | givenSpread | givenRanks | givenPreferred | givenTier | givenEmptyNodes
	explainApply = givenRanks | givenPreferred | givenTier
	// It is what kube-controller-manager would do.
	predictApply = givenKubernetes | givenBurst | givenRanks
	steerApply   = givenTier | givenFixed | givenPrice
)

// newSettings makes the settings for a function that can apply these options. An option that has no effect there is an error, as
// otherwise nobody would notice.
func newSettings(function string, apply set, options []Option) settings {
	var s settings
	for i, option := range options {
		if option == nil {
			s.needs(false, fmt.Sprintf("options[%d]", i))
			break
		}
		option(&s)
	}
	if s.err != nil {
		return s
	}
	if s.labels = s.flags&core.OptionsPreferForScaleDownOn != 0; s.labels {
		s.given |= givenPreferred
	}
	for i, name := range givenNames {
		if s.given&^apply&(1<<i) != 0 {
			s.err = &cause{fmt.Sprintf("podrank: %s has no effect in %s: leave it out", name, function), ErrOption}
			return s
		}
	}
	name := func(option set) string { return givenNames[bits.TrailingZeros(uint(option))] }
	for _, pair := range [...][2]set{
		{givenSpread, givenKubernetes}, {givenSpread, givenRanks}, {givenSpread, givenEmptyNodes}, {givenEmptyNodes, givenKubernetes},
	} {
		if s.given&pair[0] != 0 && s.given&pair[1] != 0 {
			s.err = &cause{fmt.Sprintf("podrank: %s has no effect with %s: leave one of them out", name(pair[0]), name(pair[1])), ErrOption}
			return s
		}
	}
	return s
}

// give is an option that changes the settings, and needs an argument.
func give(option set, isThere bool, argument string, change func(*settings)) Option {
	return func(s *settings) {
		change(s)
		s.given |= option
		s.needs(isThere, argument)
	}
}

// needs makes a missing argument an error.
func (s *settings) needs(isThere bool, argument string) {
	if !isThere && s.err == nil {
		s.err = errNil(argument)
	}
}
