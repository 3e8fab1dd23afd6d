package podrank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// controllerVectors are tests/vectors/controller.json: what every implementation decides.
type controllerVectors struct {
	Active []struct {
		Phase                corev1.PodPhase
		BeingDeleted, Active bool
	}
	Plan []struct {
		Wanted, Active, Burst uint32
		Satisfied             *bool
		BeingDeleted          bool
		Create, Delete        uint32
	}
	SlowStart []struct {
		Count             int
		Batches           []int
		Failures, Missing int
	}
	Expectations []struct {
		Name  string
		Steps []vectorStep
	}
	Availability []struct {
		Name             string
		Pods             []vectorRecord
		MinReadySeconds  uint32
		Now              nanoseconds
		Ready, Available int
		LookAgain        nanoseconds
	}
}

type vectorStep struct {
	Now                                nanoseconds
	ExpectCreations, CreationsObserved *int
	ExpectDeletions                    *[]int
	DeletionObserved                   *int
	Counted, Clear                     bool
	Creations, Deletions               int64
	Satisfied                          bool
}

func controllerJSON(t *testing.T) (file controllerVectors) {
	t.Helper()
	readVectors(t, "controller.json", &file)
	atLeast(t, 10, len(file.Active), len(file.Plan), len(file.SlowStart), len(file.Expectations), len(file.Availability))
	return file
}

func TestActiveJSON(t *testing.T) {
	for _, c := range controllerJSON(t).Active {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: c.Phase}}
		if c.BeingDeleted {
			pod.DeletionTimestamp = &metav1.Time{Time: noon}
		}
		if IsActive(pod) != c.Active {
			t.Errorf("%+v", c)
		}
	}
}

func TestPlanJSON(t *testing.T) {
	for _, c := range controllerJSON(t).Plan {
		satisfied := c.Satisfied == nil || *c.Satisfied
		of := core.PlanState{Wanted: c.Wanted, Active: c.Active, BurstReplicas: c.Burst}
		if satisfied {
			of.Flags |= core.PlanSatisfied
		}
		if c.BeingDeleted {
			of.Flags |= core.PlanBeingDeleted
		}
		creations, deletions, err := engine.Current.Plan(of)
		if err != nil || creations != c.Create || deletions != c.Delete {
			t.Errorf("%+v: %d, %d, %v", c, creations, deletions, err)
		}
		if c.Burst == 0 {
			continue // The default here.
		}
		state := State{Wanted: int(c.Wanted), Active: int(c.Active), Burst: int(c.Burst), BeingDeleted: c.BeingDeleted}
		create, del, err := Plan(state, satisfied)
		if err != nil || create != int(c.Create) || del != int(c.Delete) {
			t.Errorf("%+v: %d, %d, %v", state, create, del, err)
		}
	}
}

func TestSlowStartJSON(t *testing.T) {
	for _, c := range controllerJSON(t).SlowStart {
		start, err := NewSlowStart(c.Count)
		if err != nil {
			t.Fatal(err)
		}
		for i, batch := range c.Batches {
			if start.Batch() != batch {
				t.Errorf("%+v: a batch of %d", c, start.Batch())
			}
			if i+1 == len(c.Batches) {
				start.Report(c.Failures)
			} else {
				start.Report(0)
			}
		}
		if start.Batch() != 0 || start.Missing() != c.Missing {
			t.Errorf("%+v: then %d, %d missing", c, start.Batch(), start.Missing())
		}

		// The same by calls, of which those of the last batch fail in the end.
		tried, last := 0, 0
		for _, last = range c.Batches {
			tried += last
		}
		if tried > 1000 || c.Failures > last {
			continue
		}
		var calls atomic.Int64
		wrong := errors.New("wrong")
		created, err := CreateInBatches(context.Background(), c.Count, func(context.Context) error {
			switch call := calls.Add(1); {
			case call > int64(tried)+1000:
				panic("it goes on and on")
			case call > int64(tried-c.Failures):
				return wrong
			}
			return nil
		})
		if created != c.Count-c.Missing || calls.Load() != int64(tried) || (err == wrong) != (c.Failures > 0) {
			t.Errorf("%+v: %d created in %d calls, %v", c, created, calls.Load(), err)
		}
	}
}

// keyed is a pod with the key of this number.
func keyed(number int) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012x", number))
	return pod
}

func TestExpectationsJSON(t *testing.T) {
	for _, c := range controllerJSON(t).Expectations {
		var now time.Time
		e := Expectations{Clock: func() time.Time { return now }}
		for i, step := range c.Steps {
			now = time.Time{}
			if step.Now.int64 != nil {
				now = started.Add(time.Duration(*step.Now.int64))
			}
			var err error
			var counted bool
			switch {
			case step.ExpectCreations != nil:
				err = e.ExpectCreations(*step.ExpectCreations)
			case step.ExpectDeletions != nil:
				var pods []*corev1.Pod
				for _, number := range *step.ExpectDeletions {
					pods = append(pods, keyed(number))
				}
				err = e.ExpectDeletions(pods)
			case step.CreationsObserved != nil:
				e.CreationsObserved(*step.CreationsObserved)
			case step.DeletionObserved != nil:
				counted = e.DeletionObserved(keyed(*step.DeletionObserved))
			case step.Clear:
				e.Clear()
			}
			if err != nil || counted != step.Counted || e.Creations() != step.Creations || e.Deletions() != step.Deletions ||
				e.Satisfied() != step.Satisfied {
				t.Errorf("%s: step %d: %v, counted %t, %d creations, %d deletions, satisfied %t",
					c.Name, i, err, counted, e.Creations(), e.Deletions(), e.Satisfied())
			}
		}
	}
}

func TestAvailabilityJSON(t *testing.T) {
	for _, c := range controllerJSON(t).Availability {
		var records []core.Pod
		var pods []*corev1.Pod
		for _, vector := range c.Pods {
			record, pod := vector.record(t), &corev1.Pod{}
			if record.Flags&core.PodReady != 0 {
				pod.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(vector.ReadyTime.time()),
				}}
			}
			records, pods = append(records, record), append(pods, pod)
		}
		want := uint64(0)
		if c.LookAgain.int64 != nil {
			want = uint64(*c.LookAgain.int64)
		}
		ready, available, lookAgain, err := engine.Current.Availability(records, c.MinReadySeconds, c.Now.orUnset())
		if err != nil || ready != c.Ready || available != c.Available || lookAgain != want {
			t.Errorf("%s: %d ready, %d available, look again in %d, %v", c.Name, ready, available, lookAgain, err)
		}
		if c.MinReadySeconds > math.MaxInt32 {
			continue // Not in Kubernetes.
		}
		ready, available, wait, err := Availability(pods, int32(c.MinReadySeconds), c.Now.time())
		if err != nil || ready != c.Ready || available != c.Available || wait != time.Duration(want) {
			t.Errorf("%s: %d ready, %d available, look again in %v, %v", c.Name, ready, available, wait, err)
		}
	}
}

// time is the moment as Go has it.
func (n nanoseconds) time() time.Time {
	if n.int64 == nil {
		return time.Time{}
	}
	return time.Unix(0, *n.int64)
}
