// Package vectors reads the folder tests/vectors/ at the top of the repository.
package vectors

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is a pod of order.json and upstream.json. Its times are nanoseconds since the Unix epoch.
type Record struct {
	UID                                     types.UID
	Assigned, Ready, Preferred              bool
	Phase                                   uint8
	ReadyTime, CreationTime                 *int64 `json:",string"`
	DeletionCost, Restarts, SidecarRestarts int32
	Rank                                    int
	Node                                    uint32
}

// Policy is a policy of order.json and upstream.json.
type Policy struct {
	Now          *int64          `json:"now,omitempty,string"`
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// CostOn says whether deletion costs count.
func (p Policy) CostOn() bool {
	on, ok := p.FeatureGates["PodDeletionCost"]
	return on || !ok
}

// Time returns a time as Kubernetes has it in memory: the zero time if unset.
func Time(nanoseconds *int64) metav1.Time {
	if nanoseconds == nil {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Unix(0, *nanoseconds).UTC())
}

var phases = [...]v1.PodPhase{v1.PodPending, v1.PodUnknown, v1.PodRunning}

// V1 makes a pod that has this record, but for the rank, which no pod has.
func (r Record) V1() *v1.Pod {
	p := &v1.Pod{}
	p.UID, p.CreationTimestamp = r.UID, Time(r.CreationTime)
	p.Status.Phase = phases[r.Phase]
	if r.Assigned {
		p.Spec.NodeName = fmt.Sprint("node-", r.Node)
	}
	if r.Ready {
		p.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: Time(r.ReadyTime),
		}}
	}
	if r.DeletionCost != 0 {
		p.Annotations = map[string]string{"controller.kubernetes.io/pod-deletion-cost": fmt.Sprint(r.DeletionCost)}
	}
	if r.Preferred {
		p.Labels = map[string]string{"kubernetes.io/prefer-for-scale-down": ""}
	}
	p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "app", RestartCount: r.Restarts}}
	if r.SidecarRestarts != 0 {
		always := v1.ContainerRestartPolicyAlways
		p.Spec.InitContainers = []v1.Container{{Name: "sidecar", RestartPolicy: &always}}
		p.Status.InitContainerStatuses = []v1.ContainerStatus{{Name: "sidecar", RestartCount: r.SidecarRestarts}}
	}
	return p
}

// Path is where a file of tests/vectors/ is.
func Path(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "../../../../tests/vectors", name)
}

// Read decodes a file of tests/vectors/.
func Read(name string, into any) error {
	data, err := os.ReadFile(Path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
