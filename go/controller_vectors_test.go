package podrank

import (
	"fmt"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// controllerVectors are what tests/vectors/controller.json says of plans. judge/code asks Kubernetes about the rest.
type controllerVectors struct {
	Plan []struct {
		Wanted, Active, Burst uint32
		Satisfied             *bool
		BeingDeleted          bool
		Create, Delete        uint32
	}
}

func TestPlanJSON(t *testing.T) {
	var file controllerVectors
	readVectors(t, "controller.json", &file)
	atLeast(t, 10, len(file.Plan))
	for _, c := range file.Plan {
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

// keyed is a pod with the key of this number.
func keyed(number int) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012x", number))
	return pod
}
