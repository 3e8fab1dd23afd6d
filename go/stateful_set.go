package podrank

import (
	"fmt"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A Verdict says what a sync does with a pod.
type Verdict uint8

// The verdicts.
const (
	// VerdictKeep: the pod stays.
	VerdictKeep Verdict = core.VerdictKeep
	// VerdictDelete: the pod certainly goes.
	VerdictDelete Verdict = core.VerdictDelete
	// VerdictContested: the pod goes or stays by chance.
	VerdictContested Verdict = core.VerdictContested
	// VerdictBlocked: the pod would go, but waits.
	VerdictBlocked Verdict = core.VerdictBlocked
)

// String returns the name in lower case, such as "blocked".
func (v Verdict) String() string {
	switch v {
	case VerdictKeep:
		return "keep"
	case VerdictDelete:
		return "delete"
	case VerdictContested:
		return "contested"
	case VerdictBlocked:
		return "blocked"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// StatefulSetGates are feature gates of Kubernetes that differ from the defaults of 1.37.
type StatefulSetGates struct {
	// MaxUnavailableOff: MaxUnavailableStatefulSet is off, so maxUnavailable counts as 1.
	MaxUnavailableOff bool
	// RecreateOn: StatefulSetRecreateStrategy is on. Without it, a StatefulSet with the strategy Recreate does nothing.
	RecreateOn bool
}

// A StatefulSetOutcome is what the next sync of a StatefulSet does with one of its pods.
type StatefulSetOutcome struct {
	Pod     *corev1.Pod
	Verdict Verdict
	// Reason is why: one of StatefulSetReason....
	Reason Reason
	// By is the pod that Pod waits for, or of the same ordinal; nil if there is none.
	By *corev1.Pod
	// ByName is the name of the pod that Pod waits for, even if that pod does not exist yet. Otherwise it is empty.
	ByName string
}

// NextStatefulSet predicts the next sync of a StatefulSet, as in Kubernetes 1.37: which of its pods go, which would go
// but wait, and for whom. It returns an outcome for each pod with an ordinal, the highest ordinal first. Kubernetes ignores
// pods without one, so they are left out.
//
// With the policy OrderedReady, pods go one at a time, and only while the others are available. So a single broken pod keeps
// a StatefulSet from being scaled down, and the outcomes name it.
//
// pods are the pods that the StatefulSet owns and its selector matches, in any order, including those that are finished or
// being deleted. status.updateRevision tells old pods from new ones. It is valid only if status.observedGeneration is
// metadata.generation, which the caller may check. now decides which pods have been ready for minReadySeconds. If creating
// or deleting a pod fails, or a claim cannot be created, Kubernetes ends the sync there, and fewer pods go.
//
// The StatefulSet must have the defaults that the API server sets. If spec.replicas, spec.podManagementPolicy,
// spec.updateStrategy.type or, with RollingUpdate, status.updateRevision or rollingUpdate's partition is missing, negative or a text that is no percentage,
// NextStatefulSet returns an error that names the object and the field, and wraps [ErrMissing] or [ErrOutOfRange] if it is one of
// these. The API server also stores StatefulSets without a rollingUpdate or without its maxUnavailable, which counts as 1 then.
func NextStatefulSet(
	set *appsv1.StatefulSet, pods []*corev1.Pod, now time.Time, gates StatefulSetGates,
) ([]StatefulSetOutcome, error) {
	if set == nil {
		return nil, errNil("set")
	}
	record, err := statefulSetRecord(set, gates)
	if err != nil {
		return nil, fmt.Errorf("podrank: StatefulSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	members := make([]core.StatefulSetPod, 0, len(pods))
	counted := make([]*corev1.Pod, 0, len(pods))
	for i, pod := range pods {
		if pod == nil {
			return nil, errPod("pods", i, pod, ErrNil)
		}
		ordinal, err := engine.Current.StatefulSetOrdinal(set.Name, pod.Name)
		if err != nil {
			return nil, errPod("pods", i, pod, err)
		}
		if ordinal >= 0 {
			members = append(members, core.StatefulSetPod{Ordinal: ordinal, Flags: memberFlags(set, pod, now)})
			counted = append(counted, pod)
		}
	}
	next := make([]core.StatefulSetOutcome, len(members))
	if err := engine.Current.NextStatefulSet(&record, members, next); err != nil {
		return nil, err
	}
	outcomes := make([]StatefulSetOutcome, len(next))
	for i, outcome := range next {
		outcomes[i] = StatefulSetOutcome{
			Pod: counted[outcome.Member], Verdict: Verdict(outcome.Verdict),
			Reason: Reason(engine.Current.MemberReasonName(outcome.Reason)),
		}
		if outcome.By != core.None {
			outcomes[i].By = counted[outcome.By]
			outcomes[i].ByName = outcomes[i].By.Name
		} else if outcomes[i].Verdict == VerdictBlocked {
			outcomes[i].ByName = fmt.Sprintf("%s-%d", set.Name, outcome.ByOrdinal)
		}
	}
	return outcomes, nil
}

func statefulSetRecord(set *appsv1.StatefulSet, gates StatefulSetGates) (record core.StatefulSet, err error) {
	if record.Replicas, err = count("spec.replicas", set.Spec.Replicas); err != nil {
		return record, err
	}
	if ordinals := set.Spec.Ordinals; ordinals != nil {
		if record.Start, err = count("spec.ordinals.start", &ordinals.Start); err != nil {
			return record, err
		}
	}
	flag := func(isSet bool, flag uint32) {
		if isSet {
			record.Flags |= flag
		}
	}
	switch policy := set.Spec.PodManagementPolicy; policy {
	case appsv1.OrderedReadyPodManagement:
	case appsv1.ParallelPodManagement:
		record.Flags |= core.StatefulSetParallel
	case "":
		return record, errField("spec.podManagementPolicy")
	default:
		return record, fmt.Errorf("spec.podManagementPolicy %q is neither OrderedReady nor Parallel", policy)
	}
	flag(set.DeletionTimestamp != nil, core.StatefulSetBeingDeleted)
	flag(gates.MaxUnavailableOff, core.StatefulSetNoMaxUnavailable)
	flag(gates.RecreateOn, core.StatefulSetRecreateGate)
	switch kind := set.Spec.UpdateStrategy.Type; kind {
	case appsv1.OnDeleteStatefulSetStrategyType:
		record.Flags |= core.StatefulSetOnDelete
		return record, nil
	case "Recreate":
		record.Flags |= core.StatefulSetRecreate
		return record, nil
	case appsv1.RollingUpdateStatefulSetStrategyType:
	case "":
		return record, errField("spec.updateStrategy.type")
	default:
		return record, fmt.Errorf("spec.updateStrategy.type %q is none of RollingUpdate, OnDelete and Recreate", kind)
	}
	if set.Status.UpdateRevision == "" {
		return record, errField("status.updateRevision")
	}
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return record, nil
	}
	if record.Partition, err = count("spec.updateStrategy.rollingUpdate.partition", rolling.Partition); err != nil {
		return record, err
	}
	if rolling.MaxUnavailable != nil {
		var isPercent bool
		record.MaxUnavailable, isPercent, err = budget("spec.updateStrategy.rollingUpdate.maxUnavailable", rolling.MaxUnavailable)
		if err != nil {
			return record, err
		}
		flag(isPercent, core.StatefulSetUnavailablePercent)
	}
	return record, nil
}

func memberFlags(set *appsv1.StatefulSet, pod *corev1.Pod, now time.Time) (flags uint8) {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		flags |= core.StatefulSetPodRunning
	case corev1.PodSucceeded, corev1.PodFailed:
		flags |= core.StatefulSetPodFinished
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type != corev1.PodReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			flags |= core.StatefulSetPodReady
			since := condition.LastTransitionTime
			wait := time.Duration(set.Spec.MinReadySeconds) * time.Second
			if set.Spec.MinReadySeconds == 0 || !since.IsZero() && !since.Add(wait).After(now) {
				flags |= core.StatefulSetPodAvailable
			}
		}
		break
	}
	if pod.DeletionTimestamp != nil {
		flags |= core.StatefulSetPodTerminating
	}
	if pod.Labels[appsv1.StatefulSetRevisionLabel] == set.Status.UpdateRevision {
		flags |= core.StatefulSetPodUpdated
	}
	return flags
}
