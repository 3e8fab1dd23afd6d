package podrank

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Of three pods in a circle, each goes in a third of all lists; if one of the pairs ties, they go in 3, 1 and 2 of 6.
func TestOdds(t *testing.T) {
	now := WithNow(noon.Add(time.Hour))
	for restarts, want := range map[int32]map[string]float64{
		5: {"x": 1. / 3, "y": 1. / 3, "z": 1. / 3},
		0: {"x": 3. / 6, "y": 1. / 6, "z": 2. / 6},
	} {
		pods := circle()
		pods[1].Status.ContainerStatuses[0].RestartCount = restarts
		settled, chances, err := Odds(pods, nil, 2, now)
		if err != nil || len(chances) != 3 || !slices.Equal(names(settled.Certain), []string{"first"}) {
			t.Fatal(settled, chances, err)
		}
		for i, chance := range chances {
			if chance.Pod != settled.Contested[i] || math.Abs(chance.Share-want[chance.Pod.Name]) > 1e-9 || chance.Error != 0 {
				t.Errorf("with %d restarts, %s has %v±%v, want %v", restarts, chance.Pod.Name, chance.Share, chance.Error, want)
			}
		}
	}
}

// Above 12 pods, the odds come from a sample: they add up, whatever the order of the pods.
func TestSampledOdds(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 6 {
		for _, pod := range circle()[:3] {
			pod.UID = named("", uint32(100*i)+uint32(pod.Name[0])).UID
			pods = append(pods, pod)
		}
	}
	settled, chances, err := Odds(pods, nil, 7, WithNow(noon.Add(time.Hour)))
	if err != nil || settled.Quota != 7 || len(chances) != 18 {
		t.Fatal(settled, chances, err)
	}
	sum := 0.
	for _, chance := range chances {
		sum += chance.Share
		if chance.Error <= 0 || chance.Error > 0.008 {
			t.Errorf("%v±%v", chance.Share, chance.Error)
		}
	}
	if math.Abs(sum-7) > 1e-9 {
		t.Errorf("%v go, and not 7", sum)
	}
	slices.Reverse(pods)
	_, again, err := Odds(pods, nil, 7, WithNow(noon.Add(time.Hour)))
	if err != nil || !slices.Equal(again, chances) {
		t.Errorf("from another list: %v, %v, not %v", again, err, chances)
	}
	if _, _, err := Odds([]*corev1.Pod{nil}, nil, 1); !errors.Is(err, ErrNil) {
		t.Errorf("nil pod: %v", err)
	}
}
