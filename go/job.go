package podrank

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An Outcome is what a sync does to one pod.
type Outcome struct {
	Pod     *corev1.Pod
	Verdict Verdict
	// Reason is why: of a Job's pod, one of JobReason..., and of a DaemonSet's, one of DaemonSetReason....
	Reason Reason
	// Group is the same number for all pods of which chance takes Quota. Both have a meaning only if the pod is contested.
	Group, Quota int
}

// A JobStep is what the next sync of a Job does.
type JobStep struct {
	// Wanted is how many active pods the controller wants, Deleted how many the sync deletes, and Later how many more a later
	// sync deletes, because one sync deletes at most 500.
	Wanted, Deleted, Later int
	// Outcomes has one element for each active pod, in the order in which they were given.
	Outcomes []Outcome
}

// NextJob predicts the next sync of a Job, as in Kubernetes 1.37: which of its pods go, and why.
//
// pods are the pods that the Job controls, in any order, including those that have ended or are being deleted. now decides
// whether activeDeadlineSeconds have passed. A sync that ends the Job deletes all active pods: by its deadline, backoffLimit,
// maxFailedIndexes, podFailurePolicy or successPolicy, or because a condition already says so.
//
// The Job must have the defaults that the API server sets. If spec.parallelism, spec.backoffLimit, spec.completionMode, spec.suspend
// or the template's spec.restartPolicy is missing, or spec.completions of an Indexed Job, or in a Job with a podFailurePolicy
// spec.podReplacementPolicy or the status of one of onPodConditions, or if a number is negative, NextJob returns an error that
// names the object and the field, and wraps [ErrMissing] or [ErrOutOfRange]. For the zero time as now, no deadline passes.
func NextJob(job *batchv1.Job, pods []*corev1.Pod, now time.Time) (JobStep, error) {
	if job == nil {
		return JobStep{}, errNil("job")
	}
	record, err := jobRecord(job, pods)
	if err != nil {
		return JobStep{}, fmt.Errorf("podrank: Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	var active []*corev1.Pod
	for i, pod := range pods {
		if pod == nil {
			return JobStep{}, errPod("pods", i, pod, ErrNil)
		}
		if IsActive(pod) {
			active = append(active, pod)
		}
	}
	records, indexes := make([]core.Pod, len(active)), make([]int64, len(active))
	for i, pod := range active {
		fill(&records[i], pod, false)
		if indexes[i], err = completionIndex(pod); err != nil {
			return JobStep{}, err
		}
	}
	outcomes := make([]core.Outcome, len(active))
	next, err := engine.Current.NextJob(&record, nanos(&metav1.Time{Time: now}), records, indexes, make([]uint32, len(active)), outcomes)
	if err != nil {
		return JobStep{}, err
	}
	step := JobStep{Wanted: int(next.Wanted), Deleted: int(next.Deleted), Later: int(next.Later)}
	for i := range outcomes {
		step.Outcomes = append(step.Outcomes, outcome(active[i], &outcomes[i], engine.Current.JobReasonName))
	}
	return step, nil
}

func outcome(pod *corev1.Pod, o *core.Outcome, name func(uint8) string) Outcome {
	return Outcome{Pod: pod, Verdict: Verdict(o.Verdict), Reason: Reason(name(o.Reason)), Group: int(o.Group), Quota: int(o.Quota)}
}

func jobRecord(job *batchv1.Job, pods []*corev1.Pod) (record core.Job, err error) {
	var r reader
	spec, flags := &job.Spec, &record.Flags
	record.Parallelism = r.count("spec.parallelism", spec.Parallelism)
	r.needs(spec.CompletionMode != nil, "spec.completionMode")
	r.needs(spec.Suspend != nil, "spec.suspend")
	if r.err != nil {
		return record, r.err
	}
	isIndexed := *spec.CompletionMode == batchv1.IndexedCompletion
	raise(flags, isIndexed, core.JobIndexed)
	raise(flags, !isIndexed && *spec.CompletionMode != batchv1.NonIndexedCompletion, core.JobLeftAlone)
	if spec.Completions != nil {
		record.Completions = r.count("spec.completions", spec.Completions)
		*flags |= core.JobCompletions
	} else if isIndexed {
		r.fail(fmt.Errorf("%w, although spec.completionMode is Indexed", errField("spec.completions")))
	}
	if r.err != nil {
		return record, r.err
	}
	indexes, err := succeededIndexes(job, pods, isIndexed)
	if err != nil {
		return record, err
	}
	record.Succeeded = succeeded(job, pods, indexes, isIndexed)
	if err = fillEnd(&record, job, pods, indexes, isIndexed); err != nil {
		return record, err
	}
	raise(flags, *spec.Suspend, core.JobSuspended)
	raise(flags, spec.ManagedBy != nil && *spec.ManagedBy != batchv1.JobControllerName, core.JobLeftAlone)
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete, batchv1.JobFailed:
			*flags |= core.JobLeftAlone
		case batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			*flags |= core.JobEnding
		}
	}
	raise(flags, job.DeletionTimestamp != nil, core.JobBeingDeleted)
	return record, nil
}

// succeeded counts the pods, or the indexes, that have succeeded, including those that the status does not count yet.
func succeeded(job *batchv1.Job, pods []*corev1.Pod, indexes [][2]int, isIndexed bool) int32 {
	if isIndexed {
		return int32(total(indexes))
	}
	sum, uncounted := int(job.Status.Succeeded), map[types.UID]bool{}
	if list := job.Status.UncountedTerminatedPods; list != nil {
		for _, uid := range list.Succeeded {
			uncounted[uid] = true
		}
	}
	for _, pod := range pods {
		if pod != nil && pod.Status.Phase == corev1.PodSucceeded && isTracked(pod) && !uncounted[pod.UID] {
			sum++
		}
	}
	return int32(sum + len(uncounted))
}

// succeededIndexes returns the first and last of each run of an Indexed Job's succeeded indexes: those in the status, and then one
// by one those that it does not count yet.
func succeededIndexes(job *batchv1.Job, pods []*corev1.Pod, isIndexed bool) ([][2]int, error) {
	if !isIndexed {
		return nil, nil
	}
	completions := int(*job.Spec.Completions)
	intervals := indexIntervals(job.Status.CompletedIndexes, completions)
	for _, pod := range pods {
		if pod == nil || pod.Status.Phase != corev1.PodSucceeded || !isTracked(pod) {
			continue
		}
		index, err := completionIndex(pod)
		if err != nil {
			return nil, err
		}
		intervals = withIndex(intervals, index, completions)
	}
	return intervals, nil
}

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// indexIntervals reads status.completedIndexes, such as "0,2-4", up to the completions.
func indexIntervals(text string, completions int) (intervals [][2]int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isInterval := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		if from >= completions {
			break
		}
		to := from
		if isInterval {
			if to, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		intervals = append(intervals, [2]int{from, min(to, completions-1)})
	}
	return intervals
}

// withIndex adds an index, unless the intervals have it or it is not valid.
func withIndex(intervals [][2]int, index int64, completions int) [][2]int {
	has := func(i [2]int) bool { return index >= int64(i[0]) && index <= int64(i[1]) }
	if index < 0 || index >= int64(completions) || slices.ContainsFunc(intervals, has) {
		return intervals
	}
	return append(intervals, [2]int{int(index), int(index)})
}

func total(intervals [][2]int) (sum int) {
	for _, interval := range intervals {
		sum += interval[1] - interval[0] + 1
	}
	return sum
}

func completionIndex(pod *corev1.Pod) (int64, error) {
	text, ok := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if !ok {
		return -1, nil
	}
	return engine.Current.JobIndex(text)
}
