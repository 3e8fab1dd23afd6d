package podrank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The functions that have options, by name.
var decisions = map[string]func(pods []*corev1.Pod, diff int, options ...Option) error{
	"PodsToDelete": func(pods []*corev1.Pod, diff int, options ...Option) error {
		return nothing(PodsToDelete(pods, pods, diff, options...))
	},
	"AppendPodsToDelete": func(pods []*corev1.Pod, diff int, options ...Option) error {
		return nothing(NewRanker(options...).AppendPodsToDelete(nil, pods, pods, diff))
	},
	"ExplainVictims": func(pods []*corev1.Pod, diff int, options ...Option) error {
		return nothing(ExplainVictims(pods, pods, diff, options...))
	},
	"Explain": func(pods []*corev1.Pod, _ int, options ...Option) error {
		_, err := Explain(pods[0], pods[1], pods, options...)
		return err
	},
	"Predict": func(pods []*corev1.Pod, diff int, options ...Option) error {
		_, err := Predict(pods, pods, diff, options...)
		return err
	},
	"Probabilities": func(pods []*corev1.Pod, diff int, options ...Option) error {
		_, chances, err := Probabilities(pods, pods, diff, options...)
		return nothing(chances, err)
	},
	"Steer": func(pods []*corev1.Pod, _ int, options ...Option) error { return nothing(Steer(pods, options...)) },
	"UnsteerablePods": func(pods []*corev1.Pod, _ int, options ...Option) error {
		return nothing(UnsteerablePods(pods, options...))
	},
}

// nothing returns the error, with which there must be no results.
func nothing[T any](list []T, err error) error {
	if err != nil && list != nil {
		return fmt.Errorf("%v with the error %v", list, err)
	}
	return err
}

func node(pod *corev1.Pod) string { return pod.Spec.NodeName }
func zone(pod *corev1.Pod) string { return pod.Spec.NodeName[:1] }
func zero(*corev1.Pod) int        { return 0 }
func one(*corev1.Pod) int         { return 1 }
func none(*corev1.Pod) bool       { return false }

// An option that would have no effect is an error that names it and the function.
func TestOptionsThatCannotApplyAreErrors(t *testing.T) {
	all := map[string]Option{
		"Kubernetes": Kubernetes(), "WithBurst": WithBurst(1), "WithSpread": WithSpread(), "WithEmptyNodes": WithEmptyNodes(EmptyNodes{}), "WithRanks": WithRanks(zero),
		"WithPreferForScaleDown": WithPreferForScaleDown(true), "WithTier": WithTier(zero), "WithFixed": WithFixed(none), "WithPrice": WithPrice(one),
		"WithNow": WithNow(noon), "WithClock": WithClock(time.Now), "WithLogarithmicScaleDown": WithLogarithmicScaleDown(false),
		"WithPodDeletionCost": WithPodDeletionCost(true), "off": WithPreferForScaleDown(false),
	}
	refused := map[string]string{
		"PodsToDelete": "WithFixed WithPrice", "AppendPodsToDelete": "WithFixed WithPrice", "ExplainVictims": "WithFixed WithPrice",
		"Explain":         "Kubernetes WithBurst WithSpread WithFixed WithPrice WithEmptyNodes",
		"Predict":         "WithSpread WithPreferForScaleDown WithTier WithFixed WithPrice WithEmptyNodes",
		"Probabilities":   "WithSpread WithPreferForScaleDown WithTier WithFixed WithPrice WithEmptyNodes",
		"Steer":           "Kubernetes WithBurst WithSpread WithRanks WithPreferForScaleDown WithEmptyNodes",
		"UnsteerablePods": "Kubernetes WithBurst WithSpread WithRanks WithPreferForScaleDown WithEmptyNodes",
	}
	for function, decide := range decisions {
		for name, option := range all {
			err := decide(some(4), 2, option)
			if !slices.Contains(strings.Fields(refused[function]), name) {
				if err != nil {
					t.Errorf("%s with %s: %v", function, name, err)
				}
				continue
			}
			where := strings.TrimPrefix(function, "Append")
			want := fmt.Sprintf("podrank: %s has no effect in %s: leave it out", name, where)
			if !errors.Is(err, ErrOption) || err.Error() != want {
				t.Errorf("%s with %s: %v, want %s", function, name, err, want)
			}
		}
	}
	for _, pair := range [][]Option{
		{WithSpread(), Kubernetes()}, {WithRanks(zero), WithSpread()}, {WithEmptyNodes(EmptyNodes{}), Kubernetes()}, {WithEmptyNodes(EmptyNodes{}), WithSpread()},
	} {
		for _, function := range []string{"PodsToDelete", "AppendPodsToDelete", "ExplainVictims"} {
			if err := decisions[function](some(4), 2, pair...); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), " has no effect with ") {
				t.Errorf("%s: %v", function, err)
			}
		}
	}
}

// Nothing that is nil is taken for a default, and nothing panics.
func TestNilArgumentsAreErrNil(t *testing.T) {
	yes := true
	pods, set, listers := some(3), &appsv1.ReplicaSet{}, setLister{}
	set.OwnerReferences = []metav1.OwnerReference{{UID: "d", Controller: &yes}}
	set.Spec.Selector = &metav1.LabelSelector{}
	var noSet *appsv1.ReplicaSet
	var noLister *setLister
	var noContext context.Context
	everything := labels.Everything()
	claim := func(set metav1.Object, selector labels.Selector, pod *corev1.Pod) error {
		got, err := ClaimPod(set, selector, pod)
		if got != ClaimIgnore {
			t.Error(got)
		}
		return err
	}
	related := func(set *appsv1.ReplicaSet, sets ReplicaSetLister, pods PodLister) error {
		_, err := RelatedPods(set, sets, pods)
		return err
	}
	errs := map[string]error{
		"set":      claim(nil, everything, pods[0]),
		"set ":     claim(noSet, everything, pods[0]),
		"selector": claim(set, nil, pods[0]),
		"pod":      claim(set, everything, nil),
		"set  ":    related(nil, listers, podLister{}),
		"sets":     related(set, nil, podLister{}),
		"sets ":    related(set, noLister, podLister{}),
		"pods":     related(set, listers, nil),
		"sets  ":   related(set, setFunc(nil), podLister{}),

		"a listed ReplicaSet": related(set, setLister{nil}, podLister{}),
		"a listed pod":        related(set, setLister{set}, podLister{nil}),
	}
	_, errs["active[1]"] = PodsToDelete([]*corev1.Pod{pods[0], nil}, nil, 2)
	_, errs["related[1]"] = PodsToDelete(pods, []*corev1.Pod{pods[0], nil}, 2)
	for name, option := range map[string]Option{
		"options[0]": nil, "WithClock: now": WithClock(nil), "WithSpread: domains[1]": WithSpread(node, nil),
		"WithEmptyNodes: Domains": WithEmptyNodes(EmptyNodes{Domains: []func(string) string{nil}}),
		"WithRanks: of":           WithRanks(nil), "WithTier: of": WithTier(nil),
	} {
		errs[name] = decisions["PodsToDelete"](pods, 2, option)
	}
	errs["WithFixed: is"] = decisions["Steer"](pods, 2, WithFixed(nil))
	errs["WithPrice: of"] = decisions["Steer"](pods, 2, WithPrice(nil))
	_, errs["a"] = Explain(nil, pods[0], nil)
	_, errs["b"] = Explain(pods[0], nil, nil)
	_, errs["ctx"] = CreateInBatches(noContext, 1, func(context.Context) error { panic("called") })
	_, errs["create"] = CreateInBatches(context.Background(), 1, nil)
	_, errs["pods[0]   "] = StatusOf([]*corev1.Pod{nil}, nil, 0, noon)
	_, _, _, errs["active[0]"] = Availability([]*corev1.Pod{nil}, 0, noon)
	for name, err := range errs {
		if want := "podrank: " + strings.TrimRight(name, " ") + " is nil"; !errors.Is(err, ErrNil) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// Also where nothing would be looked at.
	for function, decide := range decisions {
		if err := decide(pods, 0, WithNow(noon), nil); !errors.Is(err, ErrNil) {
			t.Errorf("%s: %v", function, err)
		}
	}
	// What has no error to return says no.
	var expectations Expectations
	if IsActive(nil) || expectations.DeletionObserved(nil) {
		t.Error("a nil pod is something")
	}
}

type setFunc func(labels.Selector) ([]*appsv1.ReplicaSet, error)

func (f setFunc) List(s labels.Selector) ([]*appsv1.ReplicaSet, error) { return f(s) }

type setLister []*appsv1.ReplicaSet

func (l setLister) List(labels.Selector) ([]*appsv1.ReplicaSet, error) { return l, nil }

type podLister []*corev1.Pod

func (l podLister) List(selector labels.Selector) (selected []*corev1.Pod, err error) {
	for _, pod := range l {
		if pod == nil || selector.Matches(labels.Set(pod.Labels)) {
			selected = append(selected, pod)
		}
	}
	return selected, nil
}

// Each decision reads the clock once, and uses that time for everything.
func TestTheClockIsAskedOncePerDecision(t *testing.T) {
	calls := 0
	clock := WithClock(func() time.Time { calls++; return noon.Add(time.Duration(calls) * time.Hour) })
	for function, decide := range decisions {
		for _, options := range [][]Option{{clock}, {clock, Kubernetes()}, {clock, WithSpread()}, {clock, WithSpread(node, zone)}} {
			calls = 0
			if err := decide(some(9), 2, options...); errors.Is(err, ErrOption) {
				continue
			} else if err != nil || calls != 1 {
				t.Errorf("%s with %d options: the clock was asked %d times, %v", function, len(options), calls, err)
			}
		}
	}
}

// Namespace and name distinguish pods without UIDs, such as fakes, so those of another list are not counted again.
func TestSpreadKnowsPodsWithoutUIDsFromASecondList(t *testing.T) {
	pod := func(name, node string) *corev1.Pod {
		pod := named(name, 0)
		pod.UID, pod.Spec.NodeName = "", node
		return pod
	}
	// With a second list's b and c, node y would have more pods than x.
	active := []*corev1.Pod{pod("a", "x"), pod("b", "x"), pod("c", "y"), pod("d", "y"), pod("e", "x")}
	related := func() (copies []*corev1.Pod) {
		for i := range active {
			if i > 1 {
				copies = append(copies, active[i].DeepCopy())
			}
		}
		return append(copies, active[:2]...)
	}
	for k := range len(active) + 1 {
		want := toDelete(t, active, active, k, WithNow(noon), WithSpread())
		if got := toDelete(t, active, related(), k, WithNow(noon), WithSpread()); !slices.Equal(got, want) {
			t.Errorf("%d of pods from a second list: %v, want %v", k, got, want)
		}
	}
	// The same name in another namespace is another pod.
	elsewhere := pod("c", "y")
	elsewhere.Namespace = "elsewhere"
	others := append(slices.Clone(active), elsewhere, elsewhere.DeepCopy())
	// Those that are not active count nowhere.
	for i := range 3 {
		gone := pod(fmt.Sprint("gone-", i), "x")
		gone.DeletionTimestamp = &metav1.Time{}
		others = append(others, gone)
	}
	if got := toDelete(t, active, others, 1, WithNow(noon), WithSpread()); got[0] != "c" {
		t.Errorf("%v: node y has most", got)
	}
}
