package podrank

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Above 12 pods, the probabilities come from a sample. They add up in any order of the pods.
func TestSampledProbabilities(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 6 {
		for _, pod := range circle()[:3] {
			pod.UID = named("", uint32(100*i)+uint32(pod.Name[0])).UID
			pods = append(pods, pod)
		}
	}
	prediction, chances, err := Probabilities(pods, nil, 7, WithNow(noon.Add(time.Hour)))
	if err != nil || prediction.Quota != 7 || len(chances) != 18 {
		t.Fatal(prediction, chances, err)
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
	_, again, err := Probabilities(pods, nil, 7, WithNow(noon.Add(time.Hour)))
	if err != nil || !slices.Equal(again, chances) {
		t.Errorf("from another list: %v, %v, not %v", again, err, chances)
	}
	if _, _, err := Probabilities([]*corev1.Pod{nil}, nil, 1); !errors.Is(err, ErrNil) {
		t.Errorf("nil pod: %v", err)
	}
}
