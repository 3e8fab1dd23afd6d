package podrank

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A DaemonNode is a node that exists.
type DaemonNode struct {
	Name string
	// MayStart and MayKeep are what k8s.io/kubernetes/pkg/controller/daemon.NodeShouldRunDaemonPod returns: whether a pod of the
	// DaemonSet may start on the node, and whether one that runs there may go on.
	MayStart, MayKeep bool
	// InBackoff is whether the controller has deleted a failed pod here so recently that it leaves the next one for later. Only
	// the controller knows.
	InBackoff bool
}

// A DaemonSetStep is what the next sync of a DaemonSet does.
type DaemonSetStep struct {
	// IsUpdate is whether the sync reaches its second part, which replaces old pods.
	IsUpdate bool
	// Wanted is on how many nodes a pod may start, and MaxSurge and MaxUnavailable are the budgets as numbers of nodes. Only an
	// update sets them.
	Wanted, MaxSurge, MaxUnavailable int
	// Used is, without surge, how many nodes count as unavailable, and with surge, how many have a second pod that is not yet
	// available. Available is, with surge, how many nodes have an available pod.
	Used, Available int
	// Deleted and Created are how many pods the sync deletes and creates. Later is how many more pods a later sync deletes,
	// because one part of a sync deletes at most 250.
	Deleted, Created, Later int
	// BlockedBy is a pod that makes the update fail, or nil: with surge, an old pod that is alone on a node that does not exist.
	BlockedBy *corev1.Pod
	// Outcomes has one element for each pod, in the order in which they were given.
	Outcomes []Outcome
}

// NextDaemonSet predicts the next sync of a DaemonSet, as in Kubernetes 1.37: which of its pods go, and why.
//
// revision is the value of the label controller-revision-hash of its current revision. nodes are all nodes of the cluster. pods
// are the pods that the DaemonSet controls, in any order, including those that have ended. Whether a pod is available is decided
// at now.
//
// The DaemonSet must have the defaults that the API server sets. If spec.updateStrategy.type, its rollingUpdate, or maxSurge or
// maxUnavailable in that is missing, negative or a text that is no percentage, NextDaemonSet returns an error that names the
// object and the field, and wraps [ErrMissing] or [ErrOutOfRange] if it is one of these.
func NextDaemonSet(set *appsv1.DaemonSet, revision string, nodes []DaemonNode, pods []*corev1.Pod, now time.Time) (DaemonSetStep, error) {
	if set == nil {
		return DaemonSetStep{}, errNil("set")
	}
	record, err := daemonRecord(set)
	if err != nil {
		return DaemonSetStep{}, fmt.Errorf("podrank: DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	numbers, flags := map[string]uint32{}, make([]uint8, 0, len(nodes))
	for _, node := range nodes {
		numbers[node.Name] = uint32(len(flags))
		own := uint8(core.DaemonSetNodeExists)
		raise(&own, node.MayStart, core.DaemonSetNodeMayStart)
		raise(&own, node.MayKeep, core.DaemonSetNodeMayKeep)
		raise(&own, node.InBackoff, core.DaemonSetNodeInBackoff)
		flags = append(flags, own)
	}
	generation := templateGeneration(set)
	records := make([]core.DaemonSetPod, len(pods))
	for i, pod := range pods {
		if pod == nil {
			return DaemonSetStep{}, errPod("pods", i, pod, ErrNil)
		}
		node, ok := targetNode(pod)
		if !ok {
			records[i].Node = core.None
		} else if number, exists := numbers[node]; exists {
			records[i].Node = number
		} else {
			records[i].Node, numbers[node] = uint32(len(flags)), uint32(len(flags))
			flags = append(flags, 0)
		}
		fillDaemonPod(&records[i], pod, set, revision, generation, now)
	}
	for order, i := range sorted(len(pods), func(a, b int) int { return strings.Compare(pods[a].Name, pods[b].Name) }) {
		records[i].NameOrder = uint32(order)
	}
	outcomes := make([]core.Outcome, len(pods))
	next, err := engine.Current.NextDaemonSet(&record, flags, records, make([]uint32, len(pods)), outcomes)
	if err != nil {
		return DaemonSetStep{}, err
	}
	step := DaemonSetStep{
		IsUpdate: next.IsUpdate != 0, Wanted: int(next.Wanted), MaxSurge: int(next.Surge), MaxUnavailable: int(next.Unavailable),
		Used: int(next.Used), Available: int(next.Available),
		Deleted: int(next.Deleted), Created: int(next.Creates), Later: int(next.Later),
	}
	if next.BlockedBy != core.None {
		step.BlockedBy = pods[next.BlockedBy]
	}
	for i := range outcomes {
		step.Outcomes = append(step.Outcomes, outcome(pods[i], &outcomes[i], engine.Current.DaemonReasonName))
	}
	return step, nil
}

func daemonRecord(set *appsv1.DaemonSet) (record core.DaemonSet, err error) {
	var r reader
	raise(&record.Flags, set.DeletionTimestamp != nil, core.DaemonSetBeingDeleted)
	switch kind, rolling := set.Spec.UpdateStrategy.Type, set.Spec.UpdateStrategy.RollingUpdate; {
	case kind == appsv1.OnDeleteDaemonSetStrategyType:
		record.Flags |= core.DaemonSetOnDelete
	case kind != appsv1.RollingUpdateDaemonSetStrategyType:
		r.odd("spec.updateStrategy.type", string(kind), "neither RollingUpdate nor OnDelete")
	case rolling == nil:
		r.fail(errField("spec.updateStrategy.rollingUpdate"))
	default:
		const field = "spec.updateStrategy.rollingUpdate."
		r.budget(field+"maxSurge", rolling.MaxSurge, &record.MaxSurge, &record.Flags, core.DaemonSetSurgePercent)
		r.budget(field+"maxUnavailable", rolling.MaxUnavailable, &record.MaxUnavailable, &record.Flags, core.DaemonSetUnavailablePercent)
	}
	return record, r.err
}

// templateGeneration returns the text that pods of the current template generation have as a label, or "" if there is none.
func templateGeneration(set *appsv1.DaemonSet) string {
	number, err := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(number, 10)
}

// targetNode returns the node that the pod is on, or for which it was created.
func targetNode(pod *corev1.Pod) (string, bool) {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName, true
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil ||
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", false
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn {
				if len(field.Values) != 1 {
					return "", false
				}
				return field.Values[0], true
			}
		}
	}
	return "", false
}

func fillDaemonPod(record *core.DaemonSetPod, pod *corev1.Pod, set *appsv1.DaemonSet, revision, generation string, now time.Time) {
	record.CreationTime = nanos(&pod.CreationTimestamp)
	isReady, isAvailable := readiness(pod, set.Spec.MinReadySeconds, now)
	hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	flags := &record.Flags
	raise(flags, pod.Spec.NodeName != "", core.DaemonSetPodAssigned)
	raise(flags, isReady, core.DaemonSetPodReady)
	raise(flags, isAvailable, core.DaemonSetPodAvailable)
	raise(flags, revision != "" && hash == revision, core.DaemonSetPodCurrentRevision)
	raise(flags, generation != "" && pod.Labels["pod-template-generation"] == generation, core.DaemonSetPodCurrentGeneration)
	raise(flags, pod.Status.Phase == corev1.PodSucceeded, core.DaemonSetPodSucceeded)
	raise(flags, pod.Status.Phase == corev1.PodFailed, core.DaemonSetPodFailed)
	raise(flags, pod.DeletionTimestamp != nil, core.DaemonSetPodBeingDeleted)
}
