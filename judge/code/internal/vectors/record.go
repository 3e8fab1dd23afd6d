// Package vectors reads the folder tests/vectors/ at the top of the repository, and
// makes upstream.json, the file in it that is Kubernetes' own.
package vectors

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Nanos is a moment in nanoseconds since the Unix epoch, in JSON a decimal
// string. A nil *Nanos is unset.
type Nanos int64

// At is the moment t.
func At(t int64) *Nanos { n := Nanos(t); return &n }

// MarshalJSON writes a decimal string, which no reader rounds.
func (n Nanos) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(int64(n), 10) + `"`), nil
}

// UnmarshalJSON reads a decimal string.
func (n *Nanos) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	i, err := strconv.ParseInt(text, 10, 64)
	*n = Nanos(i)
	return err
}

// Time is the moment as Kubernetes has it in memory: the zero time if unset.
func (n *Nanos) Time() metav1.Time {
	if n == nil {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Unix(0, int64(*n)).UTC())
}

// Record is a pod of order.json and upstream.json.
type Record struct {
	UID             string `json:"uid,omitempty"`
	Assigned        bool   `json:"assigned,omitempty"`
	Phase           uint8  `json:"phase,omitempty"`
	Ready           bool   `json:"ready,omitempty"`
	ReadyTime       *Nanos `json:"readyTime,omitempty"`
	CreationTime    *Nanos `json:"creationTime,omitempty"`
	DeletionCost    int32  `json:"deletionCost,omitempty"`
	Rank            int    `json:"rank,omitempty"`
	Preferred       bool   `json:"preferred,omitempty"`
	Restarts        int32  `json:"restarts,omitempty"`
	SidecarRestarts int32  `json:"sidecarRestarts,omitempty"`
	Node            uint32 `json:"node,omitempty"`
}

// Policy is a policy of order.json and upstream.json.
type Policy struct {
	Now          *Nanos          `json:"now,omitempty"`
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// CostOn says whether deletion costs count.
func (p Policy) CostOn() bool {
	on, ok := p.FeatureGates["PodDeletionCost"]
	return on || !ok
}

var phases = [...]v1.PodPhase{v1.PodPending, v1.PodUnknown, v1.PodRunning}

// V1 makes a pod that has this record, but for the rank, which no pod has.
func (r Record) V1() *v1.Pod {
	p := &v1.Pod{}
	p.UID, p.CreationTimestamp = types.UID(r.UID), r.CreationTime.Time()
	p.Status.Phase = phases[r.Phase]
	if r.Assigned {
		p.Spec.NodeName = fmt.Sprint("node-", r.Node)
	}
	if r.Ready {
		p.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: r.ReadyTime.Time(),
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

// UIDBytes are the 16 bytes of the record's UID.
func (r Record) UIDBytes() (uid [16]byte, err error) {
	_, err = hex.Decode(uid[:], []byte(strings.ReplaceAll(r.UID, "-", "")))
	return uid, err
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
