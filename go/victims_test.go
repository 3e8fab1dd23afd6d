package podrank

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestExplainVictims(t *testing.T) {
	cheap, restarted, plain, stays := named("cheap", 4), named("restarted", 3), named("plain", 1), named("stays", 2)
	cheap.Annotations = map[string]string{corev1.PodDeletionCost: "-7"}
	restarted.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 5}}
	pods := []*corev1.Pod{plain, stays, restarted, cheap}
	victims, err := ExplainVictims(pods, nil, 3, WithNow(noon))
	if err != nil {
		t.Fatal(err)
	}
	want := []Victim{
		{cheap, stays, "deletion-cost", KindNumber, -7, 0},
		{restarted, stays, "restarts", KindNumber, 5, 0},
		{plain, stays, "uid", KindUID, 0, 0},
	}
	if !slices.Equal(victims, want) {
		t.Errorf("%+v, want %+v", victims, want)
	}
	// If all go, there is nothing that they go before.
	victims, err = ExplainVictims(pods, nil, 9, WithNow(noon))
	if err != nil || len(victims) != 4 || victims[3].Pod != stays {
		t.Fatal(victims, err)
	}
	for _, victim := range victims {
		if victim.Before != nil || victim.Rule != "" {
			t.Errorf("%+v", victim)
		}
	}
	if victims, err := ExplainVictims([]*corev1.Pod{nil}, nil, 0); victims != nil || err != nil {
		t.Error(victims, err)
	}
}

// They are those of PodsToDelete, and each rule says what it is said to say.
func TestVictimsAreThePodsToDelete(t *testing.T) {
	for _, options := range [][]Option{{WithNow(noon)}, {WithNow(noon), Kubernetes()}, {WithNow(noon), WithSpread()}} {
		for _, pods := range [][]*corev1.Pod{some(1), some(30), circle()} {
			for diff := range len(pods) + 2 {
				victims, err := ExplainVictims(pods, pods, diff, options...)
				if err != nil {
					t.Fatal(err)
				}
				got := []string{}
				for _, victim := range victims {
					got = append(got, victim.Pod.Name)
					if diff >= len(pods) || len(options) > 1 {
						continue
					}
					explanation, err := Explain(victim.Pod, victim.Before, pods, options...)
					if err != nil {
						t.Fatal(err)
					}
					if explanation.Rule != victim.Rule || explanation.First != -1 {
						t.Errorf("%s: %q, want %q", victim.Pod.Name, victim.Rule, explanation.Rule)
					}
				}
				if want := toDelete(t, pods, pods, diff, options...); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
		}
	}
	// Of pods in a circle, the comparator puts one before the survivor, and not the other.
	victims, err := ExplainVictims(circle(), nil, 3, WithNow(noon.Add(time.Hour)), Kubernetes())
	if err != nil || len(victims) != 3 || victims[0].Rule != "phase" || victims[0].Before != victims[1].Before {
		t.Fatalf("%+v, %v", victims, err)
	}
	rules := fmt.Sprint(victims[1].Rule, " ", victims[2].Rule, " before ", victims[1].Before.Name)
	if rules != "uid  before z" && rules != " uid before z" {
		t.Error(rules)
	}
}

func TestRanksOfTheCaller(t *testing.T) {
	a, b, c := named("a", 1), named("b", 2), named("c", 3)
	ranks := map[*corev1.Pod]int{b: min(math.MaxUint32, math.MaxInt), c: 7}
	byHand := WithRanks(func(pod *corev1.Pod) int { return ranks[pod] })
	pods := []*corev1.Pod{a, b, c}
	// Three on one node, and one elsewhere: it makes no difference.
	for _, options := range [][]Option{{byHand}, {byHand, Kubernetes()}} {
		if got := toDelete(t, pods, pods, 3, append(options, WithNow(noon))...); !slices.Equal(got, []string{"b", "c", "a"}) {
			t.Errorf("%v", got)
		}
	}
	wrong := []int{-1}
	// An int of 32 bits holds none that is too large.
	if strconv.IntSize > 32 {
		wrong = append(wrong, math.MaxInt)
	}
	for _, rank := range wrong {
		ranks[c] = rank
		if _, err := PodsToDelete(pods, pods, 1, byHand); !errors.Is(err, ErrOutOfRange) {
			t.Errorf("%d: %v", rank, err)
		}
	}
}

// UIDs that are not all UUIDs compare as text, whatever the order of the list.
func TestOddUIDsCompareAsText(t *testing.T) {
	uids := []types.UID{
		"", "0", "00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-00000000000F", "A", "a", "b", "uid", "ff",
	}
	var pods []*corev1.Pod
	for _, uid := range uids {
		pod := named(string(uid), 0)
		pod.UID = uid
		pods = append(pods, pod)
	}
	want := slices.Clone(uids)
	slices.Sort(want)
	for range 20 {
		slices.Reverse(pods[:5])
		slices.Reverse(pods)
		for _, options := range [][]Option{{WithNow(noon)}, {WithNow(noon), Kubernetes()}} {
			victims, err := PodsToDelete(pods, pods, len(pods), options...)
			if err != nil {
				t.Fatal(err)
			}
			for i, pod := range victims {
				if pod.UID != want[i] {
					t.Fatalf("%v, want %v", names(victims), want)
				}
			}
		}
	}
	// One such pod does not change the order of the other pods.
	list := append(some(30), pods[4])
	all := toDelete(t, list[:30], list[:30], 30, WithNow(noon))
	with := slices.DeleteFunc(toDelete(t, list, list[:30], 31, WithNow(noon)), func(name string) bool { return name == pods[4].Name })
	if !slices.Equal(all, with) {
		t.Errorf("%v, want %v", with, all)
	}
	// Equal ones tie, and go by their places in the list.
	x, y := named("x", 0), named("y", 0)
	x.UID, y.UID = "same", "same"
	if e, err := Explain(x, y, nil); err != nil || e.First != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}
