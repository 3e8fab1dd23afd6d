package podrank

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A case of tests/vectors/stateful_set.json.
type statefulSetVector struct {
	Name string
	Set  struct {
		Replicas, Start, Partition           int32
		Parallel, RecreateGate, BeingDeleted bool
		Update                               string
		MaxUnavailable                       *intstr.IntOrString
		MaxUnavailableGate                   *bool
	}
	Pods []string
}

func TestStatefulSetVectors(t *testing.T) {
	var file struct {
		Ordinal []struct {
			Set, Pod string
			Ordinal  *int32
		}
		Sync []statefulSetVector
	}
	readVectors(t, "stateful_set.json", &file)
	now := time.Unix(1_700_000_000, 0)
	for _, c := range file.Ordinal {
		// A pod with an ordinal is the only one, beyond a range of none.
		set := defaultedStatefulSet()
		set.Name, *set.Spec.Replicas = c.Set, 0
		outcomes, err := NextStatefulSet(set, []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: c.Pod}}}, now, StatefulSetGates{})
		if err != nil || len(outcomes) != 1 && c.Ordinal != nil || len(outcomes) != 0 && c.Ordinal == nil {
			t.Errorf("%s of %s: %v %v", c.Pod, c.Set, outcomes, err)
		}
	}
	for _, c := range file.Sync {
		set, gates := c.set()
		var pods []*corev1.Pod
		var want []string
		for _, line := range c.Pods {
			state, expected, _ := strings.Cut(line, " -> ")
			pods = append(pods, statefulPod(t, state, now))
			want = append(want, expected)
		}
		outcomes, err := NextStatefulSet(set, pods, now, gates)
		if err != nil || len(outcomes) != len(want) {
			t.Errorf("%s: %d outcomes, %v", c.Name, len(outcomes), err)
			continue
		}
		for i, outcome := range outcomes {
			found := fmt.Sprintf("%s %s", outcome.Verdict, outcome.Reason)
			if outcome.ByName != "" {
				found += " by " + strings.TrimPrefix(outcome.ByName, "web-")
			}
			if found != want[i] || outcome.By != nil && outcome.By.Name != outcome.ByName {
				t.Errorf("%s: %s: %s, want %s", c.Name, outcome.Pod.Name, found, want[i])
			}
		}
	}
	if len(file.Ordinal) < 20 || len(file.Sync) < 50 {
		t.Errorf("%d ordinals, %d syncs", len(file.Ordinal), len(file.Sync))
	}
}

func (c *statefulSetVector) set() (*appsv1.StatefulSet, StatefulSetGates) {
	set := defaultedStatefulSet()
	set.Spec.Replicas, set.Spec.MinReadySeconds, set.Spec.Ordinals = &c.Set.Replicas, 10, &appsv1.StatefulSetOrdinals{Start: c.Set.Start}
	if c.Set.Update == "" {
		*set.Spec.UpdateStrategy.RollingUpdate = appsv1.RollingUpdateStatefulSetStrategy{
			Partition: &c.Set.Partition, MaxUnavailable: c.Set.MaxUnavailable,
		}
	} else {
		set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.StatefulSetUpdateStrategyType(c.Set.Update)}
	}
	if c.Set.Parallel {
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	}
	if c.Set.BeingDeleted {
		set.DeletionTimestamp = &metav1.Time{}
	}
	gateOff := c.Set.MaxUnavailableGate != nil && !*c.Set.MaxUnavailableGate
	return set, StatefulSetGates{MaxUnavailableOff: gateOff, RecreateOn: c.Set.RecreateGate}
}

// statefulPod is a pod in words, such as "3 old unready".
func statefulPod(t *testing.T, text string, now time.Time) *corev1.Pod {
	words := strings.Fields(text)
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Second))}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-" + words[0], Labels: map[string]string{appsv1.StatefulSetRevisionLabel: "new"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, word := range words[1:] {
		switch word {
		case "old":
			pod.Labels[appsv1.StatefulSetRevisionLabel] = "old"
		case "pending":
			pod.Status.Phase, ready.Status = corev1.PodPending, corev1.ConditionFalse
		case "starting":
			pod.Status.Phase = corev1.PodPending
		case "unready":
			ready.Status = corev1.ConditionFalse
		case "unavailable":
			ready.LastTransitionTime = metav1.NewTime(now.Add(-9 * time.Second))
		case "terminating":
			pod.DeletionTimestamp = &metav1.Time{}
		case "finished":
			pod.Status.Phase, ready.Status = corev1.PodFailed, corev1.ConditionFalse
		default:
			t.Fatal(word)
		}
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, ready}
	return pod
}
