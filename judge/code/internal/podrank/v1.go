package podrank

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/go/internal/core"
)

const (
	costKey   = "controller.kubernetes.io/pod-deletion-cost"
	preferKey = "kubernetes.io/prefer-for-scale-down"
)

// Nodes numbers node names from 0.
type Nodes map[string]uint32

func (n Nodes) number(name string) uint32 {
	i, ok := n[name]
	if !ok {
		i = uint32(len(n))
		n[name] = i
	}
	return i
}

// FromV1 reads the record of an active pod. The rank is the caller's to set.
//
// The empty UID, which only fakes and tests have, is 16 zero bytes.
func FromV1(p *v1.Pod, nodes Nodes) (Pod, error) {
	r := Pod{ReadyTime: core.TimeUnset, CreationTime: Time(p.CreationTimestamp)}
	var err error
	if p.UID != "" {
		if r.UID, err = parseUID(string(p.UID)); err != nil {
			return Pod{}, fmt.Errorf("pod %s/%s: UID %q: %w", p.Namespace, p.Name, p.UID, err)
		}
	}
	if r.Phase, err = parsePhase(string(p.Status.Phase)); err != nil {
		return Pod{}, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	if p.Spec.NodeName != "" {
		r.Flags |= core.PodAssigned
		r.Node = nodes.number(p.Spec.NodeName)
	}
	isReady := func(c v1.PodCondition) bool { return c.Type == v1.PodReady }
	// The first such condition, whatever stands in others.
	if i := slices.IndexFunc(p.Status.Conditions, isReady); i >= 0 && p.Status.Conditions[i].Status == v1.ConditionTrue {
		r.Flags |= core.PodReady
		r.ReadyTime = Time(p.Status.Conditions[i].LastTransitionTime)
	}
	if _, ok := p.Labels[preferKey]; ok {
		r.Flags |= core.PodPreferred
	}
	if text, ok := p.Annotations[costKey]; ok {
		r.DeletionCost, _ = DeletionCost(text) // an invalid text counts as 0
	}
	for _, s := range p.Status.ContainerStatuses {
		r.Restarts = max(r.Restarts, count(s))
	}
	for _, s := range p.Status.InitContainerStatuses {
		if slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool {
			return c.Name == s.Name && c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
		}) {
			r.SidecarRestarts = max(r.SidecarRestarts, count(s))
		}
	}
	return r, nil
}

func count(s v1.ContainerStatus) uint32 { return uint32(max(s.RestartCount, 0)) }

// Time is a timestamp as the library counts it; Go's zero time is core.TimeUnset.
func Time(t metav1.Time) int64 {
	if t.IsZero() {
		return core.TimeUnset
	}
	return timeFromUnix(t.Unix(), t.Nanosecond())
}
