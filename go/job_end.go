package podrank

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/podrank/podrank/go/internal/core"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fillEnd writes to the record what can end the Job. succeeded are the indexes that have succeeded.
func fillEnd(record *core.Job, job *batchv1.Job, pods []*corev1.Pod, succeeded [][2]int, isIndexed bool) error {
	var r reader
	spec := &job.Spec
	record.BackoffLimit = r.count("spec.backoffLimit", spec.BackoffLimit)
	if spec.MaxFailedIndexes != nil {
		record.MaxFailedIndexes = r.count("spec.maxFailedIndexes", spec.MaxFailedIndexes)
		record.Flags |= core.JobMaxFailedIndexes
	}
	if seconds := spec.ActiveDeadlineSeconds; seconds != nil {
		if *seconds < 0 {
			r.fail(&cause{fmt.Sprintf("spec.activeDeadlineSeconds is negative: %d", *seconds), ErrOutOfRange})
		}
		record.ActiveDeadlineSeconds, record.StartTime = *seconds, core.TimeUnset
		if job.Status.StartTime != nil {
			record.StartTime = nanos(job.Status.StartTime)
		}
		record.Flags |= core.JobDeadline
	}
	r.hasDefaults(spec)
	if r.err != nil {
		return r.err
	}
	if spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		record.Restarts = restarts(pods)
	}
	raise(&record.Flags, isIndexed && meetsSuccessPolicy(spec.SuccessPolicy, succeeded, int(record.Completions)), core.JobSuccessPolicy)
	return fillFailed(record, job, pods, isIndexed)
}

// hasDefaults reads the defaults that decide which pods have failed, and why.
func (r *reader) hasDefaults(spec *batchv1.JobSpec) {
	r.needs(spec.Template.Spec.RestartPolicy != "", "spec.template.spec.restartPolicy")
	if spec.PodFailurePolicy == nil {
		return
	}
	r.needs(spec.PodReplacementPolicy != nil, "spec.podReplacementPolicy")
	for i, rule := range spec.PodFailurePolicy.Rules {
		for j, condition := range rule.OnPodConditions {
			r.needs(condition.Status != "", fmt.Sprintf("spec.podFailurePolicy.rules[%d].onPodConditions[%d].status", i, j))
		}
	}
}

// fillFailed counts the pods and indexes that have failed, including those that the status does not count yet.
func fillFailed(record *core.Job, job *batchv1.Job, pods []*corev1.Pod, isIndexed bool) (err error) {
	spec, completions := &job.Spec, 0
	if isIndexed {
		completions = int(*spec.Completions)
	}
	// Not nil if indexes fail one by one.
	var limit *int32
	var failedIndexes [][2]int
	if isIndexed && spec.BackoffLimitPerIndex != nil {
		var r reader
		r.count("spec.backoffLimitPerIndex", spec.BackoffLimitPerIndex)
		if r.err != nil {
			return r.err
		}
		limit = spec.BackoffLimitPerIndex
		if text := job.Status.FailedIndexes; text != nil {
			failedIndexes = indexIntervals(*text, completions)
		}
	}
	sum, uncounted := int(job.Status.Failed), map[types.UID]bool{}
	if list := job.Status.UncountedTerminatedPods; list != nil {
		for _, uid := range list.Failed {
			uncounted[uid] = true
		}
	}
	for _, pod := range pods {
		if pod == nil || !isFailed(job, pod) {
			continue
		}
		action := failureAction(spec.PodFailurePolicy, pod)
		if action == batchv1.PodFailurePolicyActionFailJob {
			record.Flags |= core.JobPodFailurePolicy
		}
		if !isTracked(pod) || action == batchv1.PodFailurePolicyActionIgnore {
			continue
		}
		index := int64(-1)
		if isIndexed {
			if index, err = completionIndex(pod); err != nil {
				return err
			}
			if index < 0 || index >= int64(completions) {
				continue
			}
		}
		if !uncounted[pod.UID] {
			sum++
		}
		if limit != nil && (action == batchv1.PodFailurePolicyActionFailIndex || indexFailures(pod) >= int(*limit)) {
			failedIndexes = withIndex(failedIndexes, index, completions)
		}
	}
	record.Failed, record.FailedIndexes = int32(sum+len(uncounted)), int32(total(failedIndexes))
	return nil
}

// isFailed returns whether the Job's controller counts the pod as failed.
func isFailed(job *batchv1.Job, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	policy := job.Spec.PodReplacementPolicy
	isReplacedEarly := policy == nil || *policy != batchv1.Failed
	return isReplacedEarly && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}

// indexFailures is how often the pod's index failed before this pod.
func indexFailures(pod *corev1.Pod) int {
	failures, err := strconv.ParseInt(pod.Annotations[batchv1.JobIndexFailureCountAnnotation], 10, 32)
	if err != nil {
		return 0
	}
	return max(int(failures), 0)
}

// restarts sums up the restarts of all containers of the pods that run or are pending. The sum wraps, as in Kubernetes.
func restarts(pods []*corev1.Pod) (sum int32) {
	for _, pod := range pods {
		if pod == nil || pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range statuses {
				sum += statuses[i].RestartCount
			}
		}
	}
	return max(sum, 0)
}

// failureAction returns the action of the first rule that the failed pod matches, or an empty one.
func failureAction(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) batchv1.PodFailurePolicyAction {
	if policy == nil {
		return ""
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		switch rule.Action {
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionFailIndex,
			batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob:
		default:
			continue
		}
		matches := false
		if rule.OnExitCodes != nil {
			matches = matchesExitCodes(rule.OnExitCodes, pod.Status.ContainerStatuses) ||
				matchesExitCodes(rule.OnExitCodes, pod.Status.InitContainerStatuses)
		} else {
			matches = slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
				return slices.Contains(rule.OnPodConditions,
					batchv1.PodFailurePolicyOnPodConditionsPattern{Type: condition.Type, Status: condition.Status})
			})
		}
		if matches {
			return rule.Action
		}
	}
	return ""
}

func matchesExitCodes(codes *batchv1.PodFailurePolicyOnExitCodesRequirement, statuses []corev1.ContainerStatus) bool {
	return slices.ContainsFunc(statuses, func(status corev1.ContainerStatus) bool {
		ended := status.State.Terminated
		if ended == nil || ended.ExitCode == 0 || codes.ContainerName != nil && *codes.ContainerName != status.Name {
			return false
		}
		switch isListed := slices.Contains(codes.Values, ended.ExitCode); codes.Operator {
		case batchv1.PodFailurePolicyOnExitCodesOpIn:
			return isListed
		case batchv1.PodFailurePolicyOnExitCodesOpNotIn:
			return !isListed
		default:
			return false
		}
	})
}

// meetsSuccessPolicy returns whether the succeeded indexes meet a rule.
func meetsSuccessPolicy(policy *batchv1.SuccessPolicy, succeeded [][2]int, completions int) bool {
	if policy == nil || len(succeeded) == 0 {
		return false
	}
	return slices.ContainsFunc(policy.Rules, func(rule batchv1.SuccessPolicyRule) bool {
		count := rule.SucceededCount
		if rule.SucceededIndexes == nil {
			return count != nil && total(succeeded) >= int(*count)
		}
		required, met := indexIntervals(*rule.SucceededIndexes, completions), 0
		for _, a := range required {
			for _, b := range succeeded {
				met += max(min(a[1], b[1])-max(a[0], b[0])+1, 0)
			}
		}
		return len(required) > 0 && (met == total(required) || count != nil && met >= int(*count))
	})
}
