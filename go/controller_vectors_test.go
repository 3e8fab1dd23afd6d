package podrank

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The cases of tests/vectors/controller.json. judge/code asks Kubernetes about many more.

func (n nanoseconds) time() time.Time {
	if n.int64 == nil {
		return time.Time{}
	}
	return time.Unix(0, *n.int64)
}

func TestActiveJSON(t *testing.T) {
	var file struct {
		Active []struct {
			Phase                corev1.PodPhase
			BeingDeleted, Active bool
		}
	}
	readVectors(t, "controller.json", &file)
	atLeast(t, 10, len(file.Active))
	for _, c := range file.Active {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: c.Phase}}
		if c.BeingDeleted {
			pod.DeletionTimestamp = &metav1.Time{Time: noon}
		}
		if got := IsActive(pod); got != c.Active {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestPlanJSON(t *testing.T) {
	var file struct {
		Plan []struct {
			Desired, Active, Burst, Create, Delete int64
			Satisfied                              *bool
			BeingDeleted                           bool
		}
	}
	readVectors(t, "controller.json", &file)
	atLeast(t, 20, len(file.Plan))
	for _, c := range file.Plan {
		if c.Burst == 0 || max(c.Desired, c.Active, c.Burst) > math.MaxInt {
			continue // Here 0 is the default, and int may have 32 bits.
		}
		state := State{Desired: int(c.Desired), Active: int(c.Active), Burst: int(c.Burst), BeingDeleted: c.BeingDeleted}
		creations, deletions, err := Plan(state, c.Satisfied == nil || *c.Satisfied)
		if err != nil || int64(creations) != c.Create || int64(deletions) != c.Delete {
			t.Errorf("%+v: %d, %d, %v", state, creations, deletions, err)
		}
	}
}

// The calls of a batch wait for each other, so a batch that is too small would wait until the test times out.
func TestSlowStartJSON(t *testing.T) {
	var file struct {
		SlowStart []struct {
			Count, Failures, Missing int64
			Batches                  []int64
		}
	}
	readVectors(t, "controller.json", &file)
	tried := 0
	for _, c := range file.SlowStart {
		if c.Count > 1000 {
			continue // Each call is a goroutine.
		}
		tried++
		var batchOf []int
		arrivals := make([]sync.WaitGroup, len(c.Batches))
		for batch, size := range c.Batches {
			arrivals[batch].Add(int(size))
			batchOf = append(batchOf, slices.Repeat([]int{batch}, int(size))...)
		}
		var started, ended atomic.Int64
		failed := errors.New("failed")
		created, err := CreateInBatches(context.Background(), int(c.Count), func(context.Context) error {
			call := started.Add(1) - 1
			batch := batchOf[call]
			if before := int64(slices.Index(batchOf, batch)); ended.Load() < before {
				t.Errorf("%+v: call %d has started, and %d calls have ended", c, call, ended.Load())
			}
			arrivals[batch].Done()
			arrivals[batch].Wait()
			ended.Add(1)
			if batch == len(c.Batches)-1 && int64(len(batchOf))-call <= c.Failures {
				return failed
			}
			return nil
		})
		if c.Count-int64(created) != c.Missing || int(started.Load()) != len(batchOf) || (err == failed) != (c.Failures > 0) {
			t.Errorf("%+v: %d created by %d calls, %v", c, created, started.Load(), err)
		}
	}
	atLeast(t, 14, tried)
}

type expectationStep struct {
	Now                       nanoseconds
	ExpectCreations           *int64
	ExpectDeletions           *[]int
	CreationsObserved         int64
	DeletionObserved          *int
	Counted, Clear, Satisfied bool
	Creations, Deletions      int64
}

// do takes the step, and reports whether a deletion counted.
func (s expectationStep) do(t *testing.T, e *Expectations) (counted bool) {
	switch {
	case s.ExpectCreations != nil:
		e.ExpectCreations(int(*s.ExpectCreations))
	case s.ExpectDeletions != nil:
		var pods []*corev1.Pod
		for _, key := range *s.ExpectDeletions {
			pods = append(pods, keyed(key))
		}
		if err := e.ExpectDeletions(pods); err != nil {
			t.Fatal(err)
		}
	case s.CreationsObserved > 0:
		e.CreationsObserved(int(s.CreationsObserved))
	case s.DeletionObserved != nil:
		return e.DeletionObserved(keyed(*s.DeletionObserved))
	case s.Clear:
		e.Clear()
	}
	return false
}

func TestExpectationsJSON(t *testing.T) {
	var file struct {
		Expectations []struct {
			Name  string
			Steps []expectationStep
		}
	}
	readVectors(t, "controller.json", &file)
	atLeast(t, 15, len(file.Expectations))
	for _, c := range file.Expectations {
		var e Expectations
		var now time.Time
		e.Clock = func() time.Time { return now }
		for i, step := range c.Steps {
			if strconv.IntSize == 32 && c.Name == "many" {
				break // More creations than int has.
			}
			now = step.Now.time()
			counted := step.do(t, &e)
			if counted != step.Counted || e.Satisfied() != step.Satisfied ||
				e.Creations() != step.Creations || e.Deletions() != step.Deletions {
				t.Errorf("%s: after step %d, %+v: %d and %d are pending, counted: %t, satisfied: %t",
					c.Name, i, step, e.Creations(), e.Deletions(), counted, e.Satisfied())
			}
		}
	}
}

func TestAvailabilityJSON(t *testing.T) {
	var file struct {
		Availability []struct {
			Name             string
			Pods             []vectorRecord
			MinReadySeconds  int64
			Now              nanoseconds
			Ready, Available int
			NextCheckAfter   nanoseconds
		}
	}
	readVectors(t, "controller.json", &file)
	tried := 0
	for _, c := range file.Availability {
		if c.MinReadySeconds > math.MaxInt32 {
			continue // Kubernetes has no such number.
		}
		tried++
		var pods []*corev1.Pod
		for _, v := range c.Pods {
			pod := named("a", 1)
			pod.Status.Conditions = nil
			if v.Ready {
				since := metav1.NewTime(v.ReadyTime.time())
				pod.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since},
				}
			}
			pods = append(pods, pod)
		}
		ready, available, nextCheckAfter, err := Availability(pods, int32(c.MinReadySeconds), c.Now.time())
		want := time.Duration(0)
		if c.NextCheckAfter.int64 != nil {
			want = time.Duration(*c.NextCheckAfter.int64)
		}
		if err != nil || ready != c.Ready || available != c.Available || nextCheckAfter != want {
			t.Errorf("%s: %d, %d, %v, %v", c.Name, ready, available, nextCheckAfter, err)
		}
	}
	atLeast(t, 19, tried)
}
