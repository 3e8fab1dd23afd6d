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
	return nameOf("Verdict", v, map[Verdict]string{
		VerdictKeep: "keep", VerdictDelete: "delete", VerdictContested: "contested", VerdictBlocked: "blocked",
	})
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
	var r reader
	record.Replicas = r.count("spec.replicas", set.Spec.Replicas)
	if ordinals := set.Spec.Ordinals; ordinals != nil {
		record.Start = r.count("spec.ordinals.start", &ordinals.Start)
	}
	switch policy := set.Spec.PodManagementPolicy; policy {
	case appsv1.OrderedReadyPodManagement:
	case appsv1.ParallelPodManagement:
		record.Flags |= core.StatefulSetParallel
	default:
		r.odd("spec.podManagementPolicy", string(policy), "neither OrderedReady nor Parallel")
	}
	raise(&record.Flags, set.DeletionTimestamp != nil, core.StatefulSetBeingDeleted)
	raise(&record.Flags, gates.MaxUnavailableOff, core.StatefulSetNoMaxUnavailable)
	raise(&record.Flags, gates.RecreateOn, core.StatefulSetRecreateGate)
	switch kind := set.Spec.UpdateStrategy.Type; kind {
	case appsv1.OnDeleteStatefulSetStrategyType:
		record.Flags |= core.StatefulSetOnDelete
	case "Recreate":
		record.Flags |= core.StatefulSetRecreate
	case appsv1.RollingUpdateStatefulSetStrategyType:
		r.needs(set.Status.UpdateRevision != "", "status.updateRevision")
		if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
			const field = "spec.updateStrategy.rollingUpdate."
			record.Partition = r.count(field+"partition", rolling.Partition)
			if rolling.MaxUnavailable != nil {
				r.budget(field+"maxUnavailable", rolling.MaxUnavailable, &record.MaxUnavailable, &record.Flags, core.StatefulSetUnavailablePercent)
			}
		}
	default:
		r.odd("spec.updateStrategy.type", string(kind), "none of RollingUpdate, OnDelete and Recreate")
	}
	return record, r.err
}

func memberFlags(set *appsv1.StatefulSet, pod *corev1.Pod, now time.Time) (flags uint8) {
	phase := pod.Status.Phase
	isReady, isAvailable := readiness(pod, set.Spec.MinReadySeconds, now)
	raise(&flags, phase == corev1.PodRunning, core.StatefulSetPodRunning)
	raise(&flags, phase == corev1.PodSucceeded || phase == corev1.PodFailed, core.StatefulSetPodFinished)
	raise(&flags, isReady, core.StatefulSetPodReady)
	raise(&flags, isAvailable, core.StatefulSetPodAvailable)
	raise(&flags, pod.DeletionTimestamp != nil, core.StatefulSetPodTerminating)
	raise(&flags, pod.Labels[appsv1.StatefulSetRevisionLabel] == set.Status.UpdateRevision, core.StatefulSetPodUpdated)
	return flags
}

// readiness returns whether a pod is ready, and whether it has been for so many seconds.
func readiness(pod *corev1.Pod, seconds int32, now time.Time) (isReady, isAvailable bool) {
	var record core.Pod
	fillReady(&record, pod)
	wait := time.Duration(seconds) * time.Second
	isReady = record.Flags&core.PodReady != 0
	return isReady, isReady && (wait == 0 || record.ReadyTime != core.TimeUnset && now.Sub(time.Unix(0, record.ReadyTime)) >= wait)
}
