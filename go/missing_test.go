//go:build !cgo

package podrank

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestWithoutCgoTheErrorSaysWhatIsMissing(t *testing.T) {
	pod := &corev1.Pod{}
	pods := []*corev1.Pod{pod}
	_, err := PodsToDelete(pods, pods, 1)
	_, errKubernetes := PodsToDelete(pods, pods, 1, Kubernetes())
	_, errSettle := Settle(pods, pods, 1)
	_, errExplain := Explain(pod, pod, nil)
	_, errSpread := PodsToDelete(pods, pods, 1, Spread())
	_, errSteer := Steer(pods)
	_, errBlocked := BlockedPods(pods)
	_, _, errPlan := Plan(State{Wanted: 3})
	_, errSlowStart := NewSlowStart(3)
	_, errCreate := CreateInBatches(3, func() error { panic("called") })
	_, _, _, errAvailability := Availability(pods, 0, time.Now())
	replicas := int32(3)
	_, errNextStep := NextStep(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
	}}, nil, nil)
	_, errStatefulSet := NextStatefulSetStep(&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: &replicas}}, nil,
		time.Now(), StatefulSetGates{})
	_, errJob := NextJob(&batchv1.Job{Spec: batchv1.JobSpec{Parallelism: &replicas}}, nil)
	_, errDaemonSet := NextDaemonSet(&appsv1.DaemonSet{}, "", nil, nil, time.Now())
	var e Expectations
	errCreations, errDeletions := e.ExpectCreations(1), e.ExpectDeletions(pods)
	for _, err := range []error{
		err, errKubernetes, errSettle, errExplain, errSpread, errSteer, errBlocked, errPlan, errSlowStart, errCreate,
		errAvailability, errCreations, errDeletions, errNextStep, errStatefulSet, errJob,
		errDaemonSet,
	} {
		if !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	}
	// Nothing can be expected, so all was seen.
	e.CreationsObserved(1)
	if e.DeletionObserved(pod) || !e.Satisfied() || e.Creations() != 0 || e.Deletions() != 0 {
		t.Error("there are expectations")
	}
	// The zero SlowStart is at its end.
	var start SlowStart
	start.Report(1)
	if start.Batch() != 0 || start.Missing() != 0 {
		t.Error("there is something to create")
	}
	if LibraryVersion() != "" {
		t.Error("there is a library")
	}
}
