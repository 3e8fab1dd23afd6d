package podrank

import (
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// As in Kubernetes, an owner without a namespace adopts in every one. judge/code asks about owners that have one.
func TestAnOwnerWithoutANamespaceAdopts(t *testing.T) {
	owner := &metav1.ObjectMeta{UID: "cluster-scoped"}
	if got, err := ClaimPod(owner, labels.Everything(), named("a", 1)); got != ClaimAdopt || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// An owner is known by its UID: one of the same name is another, perhaps a deleted one.
func TestAnOwnerIsKnownByItsUID(t *testing.T) {
	isController, pod := true, named("a", 1)
	pod.OwnerReferences = []metav1.OwnerReference{{Name: "web", UID: "old", Controller: &isController}}
	for uid, want := range map[types.UID]Claim{"old": ClaimKeep, "new": ClaimIgnore} {
		owner := &metav1.ObjectMeta{Name: "web", UID: uid}
		if got, err := ClaimPod(owner, labels.Everything(), pod); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", uid, got, err, want)
		}
	}
}

func TestStatusOf(t *testing.T) {
	labeled, plain, starting, ending, done, lost := named("a", 1), named("b", 2), named("c", 3), named("d", 4), named("e", 5), named("f", 6)
	for _, pod := range []*corev1.Pod{labeled, ending, done} {
		pod.Labels = map[string]string{"app": "web", "more": "x"}
	}
	labeled.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-time.Hour))
	plain.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-time.Second))
	starting.Status.Conditions = nil
	ending.DeletionTimestamp, done.Status.Phase = &metav1.Time{}, corev1.PodSucceeded
	lost.DeletionTimestamp, lost.Status.Phase = &metav1.Time{}, corev1.PodFailed
	pods := []*corev1.Pod{labeled, plain, starting, ending, done, lost}
	status, err := StatusOf(pods, map[string]string{"app": "web"}, 60, noon)
	if want := (Status{3, 1, 2, 1, 1, 59 * time.Second}); err != nil || status != want {
		t.Errorf("%+v, %v, want %+v", status, err, want)
	}
	// A negative minReadySeconds, which no cluster has, is 0.
	if status, err := StatusOf(pods, nil, -1, noon); err != nil || status.FullyLabeled != 3 || status.Available != 2 {
		t.Errorf("%+v, %v", status, err)
	}
	if _, err := StatusOf(append(pods, nil), nil, 0, noon); !errors.Is(err, ErrNil) {
		t.Error(err)
	}
}

func TestUpdateReplicaFailure(t *testing.T) {
	failed, other := errors.New("the quota is used up"), appsv1.ReplicaSetCondition{Type: "Other"}
	conditions := []appsv1.ReplicaSetCondition{other}
	step := func(want string, creations, deletions int, err error) {
		t.Helper()
		// The list may be a cache's, which has room for more: nothing there changes, nor by a change of the result.
		memory := append(slices.Clone(conditions), appsv1.ReplicaSetCondition{Type: "Beyond"})
		was := slices.Clone(memory)
		next := UpdateReplicaFailure(memory[:len(conditions)], creations, deletions, err, noon)
		conditions = slices.Clone(next)
		clear(next)
		if !slices.Equal(memory, was) {
			t.Errorf("the list changed: %+v", memory)
		}
		got := ""
		for _, condition := range conditions[1:] {
			got += condition.Reason + ": " + condition.Message
		}
		if got != want || conditions[0] != other {
			t.Errorf("%+v, want %q", conditions, want)
		}
	}
	step("", 3, 0, nil)
	step("FailedCreate: the quota is used up", 3, 0, failed)
	step("FailedCreate: the quota is used up", 0, 2, errors.New("something else"))
	step("", 0, 0, nil)
	step("FailedDelete: the quota is used up", 0, 2, failed)
	step("", 1, 0, nil)
}
