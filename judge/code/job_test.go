package judge

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/go/judge/upstream"
)

// go test -run TestJobs$ -v -timeout 0 -jobs 1000000 .
var jobs = flag.Int("jobs", 20_000, "how many random Jobs TestJobs judges")

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// Kubernetes' whole Job controller, on random Jobs: it deletes the pods that the preview names.
func TestJobs(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *jobs, withPreview(t, func(ctx context.Context, p *previewer) (judge, error) {
		controller, err := upstream.NewJobController(ctx)
		return func(number int, tally map[string]int) error { return judgeJob(controller, p, number, tally) }, err
	}))
	for _, reason := range []string{
		"kept kept", "deleted suspended", "deleted ending", "deleted no-index", "deleted beyond-completions", "deleted duplicate",
		"possible duplicate", "deleted surplus", "possible surplus", "kept next-sync", "possible no-index",
		"deleted pod-failure-policy", "deleted backoff-limit", "deleted restarts", "deleted deadline", "deleted max-failed-indexes",
		"deleted failed-indexes", "deleted success-policy", "ties by index",
	} {
		if tally[reason] == 0 && !t.Failed() {
			t.Errorf("no %s", reason)
		}
	}
}

// askJob asks the preview what the next sync does.
func (p *previewer) askJob(job *batchv1.Job, pods []*v1.Pod, now time.Time) (*preview, error) {
	return p.ask(question{Workload: "job/" + job.Name, Now: now},
		list{"batch/v1", "JobList", []*batchv1.Job{job}}, list{"v1", "PodList", pods})
}

func judgeJob(controller *upstream.JobController, p *previewer, number int, tally map[string]int) error {
	r := seeded(21, number)
	job, pods := newJobCase(r, fmt.Sprintf("import-%d", number))
	now := addEnds(r, job, pods)
	preview, err := p.askJob(job, pods, now)
	if err != nil {
		return fmt.Errorf("%w\nat %v: %s", err, now, describe(job, pods))
	}
	sync := func() (upstream.PodSync, error) {
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		return controller.Sync(job, pods, now)
	}
	result, err := sync()
	if err != nil {
		return err
	}
	if err := preview.check(pods, result.Deleted, tally); err != nil {
		return fmt.Errorf("%w\nat %v: %s", err, now, describe(job, pods))
	}
	if hasIndexesOfItsOwn(job, pods) {
		for _, pod := range preview.pods() {
			if pod.Verdict == "possible" {
				return fmt.Errorf("%s is possible\nat %v: %s", pod.Name, now, describe(job, pods))
			} else if strings.Contains(pod.Reason.Text, "it ties with other pods") {
				tally["ties by index"]++
			}
		}
		for run := 0; run < 10 && len(pods) > 12; run++ {
			rename(job, pods, fmt.Sprintf("import-%d-%d", number, run))
			if result, err = sync(); err == nil {
				err = preview.check(pods, result.Deleted, tally)
			}
			if err != nil {
				return fmt.Errorf("%w\nat %v: %s", err, now, describe(job, pods))
			}
		}
	}
	// Each possible pod is deleted in some list order: with few pods, upstream's sort keeps ties in list order, and
	// every list order comes up.
	if number%2048 == 5 && len(preview.pods()) <= 6 {
		seen := fates{}
		for run := range 300 {
			rename(job, pods, fmt.Sprintf("import-%d-%d", number, run))
			if result, err = sync(); err != nil {
				return err
			}
			seen.add(preview.pods(), result.Deleted)
		}
		if err := seen.check(preview.pods()); err != nil {
			return fmt.Errorf("%w\n%s", err, describe(job, pods))
		}
	}
	return nil
}

// hasIndexesOfItsOwn is whether each pod of an Indexed Job has an index that no other has. Nothing is left to chance then: upstream's
// sort decides between ties, which the preview runs on the list by index. It is enough to know it of Jobs that one sync finishes.
func hasIndexesOfItsOwn(job *batchv1.Job, pods []*v1.Pod) bool {
	texts := map[string]bool{}
	for _, pod := range pods {
		text := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		if index, err := strconv.ParseUint(text, 10, 31); err != nil || strconv.FormatUint(index, 10) != text || texts[text] {
			return false
		}
		texts[text] = true
	}
	return *job.Spec.CompletionMode == batchv1.IndexedCompletion && len(pods) < 100
}

func newJobCase(r *rand.Rand, name string) (*batchv1.Job, []*v1.Pod) {
	labels, parallelism, backoff := map[string]string{"app": "import"}, int32(r.IntN(8)), int32(1<<30)
	mode := pick(r, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: batchv1.JobSpec{
			Parallelism: &parallelism, CompletionMode: &mode, BackoffLimit: &backoff, Suspend: new(bool),
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyNever}},
		},
	}
	completions := int32(r.IntN(10))
	if mode == batchv1.IndexedCompletion || r.IntN(2) == 0 {
		job.Spec.Completions = &completions
	}
	if r.IntN(3) == 0 {
		job.Status.Succeeded = int32(r.IntN(4))
		job.Status.CompletedIndexes = pick(r, "", "0", "1,3", "0-2", "2-4,7", "5-20")
	}
	if r.IntN(8) == 0 {
		job.Spec.Suspend = new(true)
	}
	if r.IntN(20) == 0 {
		job.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	}
	if r.IntN(40) == 0 {
		job.Spec.ManagedBy = new(pick(r, batchv1.JobControllerName, "example.com/other"))
	}
	if r.IntN(5) == 0 {
		job.Status.Conditions = []batchv1.JobCondition{{
			Type:   pick(r, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobSuspended),
			Status: pick(r, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionFalse),
		}}
	}
	n := r.IntN(12)
	switch r.IntN(200) {
	case 0:
		n = 450 + r.IntN(300)
		parallelism = int32(r.IntN(300))
		completions = int32(r.IntN(300))
	case 1, 2, 3, 4, 5, 6: // so many that Kubernetes' sort does not keep ties in the list's order
		n = 20 + r.IntN(60)
		parallelism, completions = int32(r.IntN(20)), int32(n)
	}
	// One pod in so many has an index, or all but one in eight.
	few := pick(r, 1, 1, 10)
	// Some Jobs have a pod for each index.
	inOrder := r.IntN(4) == 0 || n > 12 && n < 100 && r.IntN(2) == 0
	pods := make([]*v1.Pod, n)
	alike := r.IntN(3) // how much pods differ
	for i := range pods {
		pods[i] = newJobPod(r, i, alike)
		pods[i].OwnerReferences, pods[i].Labels = owned(job, jobKind), labels
		if r.IntN(8) > 0 && r.IntN(few) == 0 {
			pods[i].Annotations[batchv1.JobCompletionIndexAnnotation] = newIndex(r, n)
		}
		if inOrder {
			pods[i].Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		}
		if pods[i].Status.Phase == v1.PodSucceeded && r.IntN(4) == 0 {
			if job.Status.UncountedTerminatedPods == nil {
				job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			}
			job.Status.UncountedTerminatedPods.Succeeded = append(job.Status.UncountedTerminatedPods.Succeeded, pods[i].UID)
		}
	}
	return job, pods
}

func newJobPod(r *rand.Rand, i, alike int) *v1.Pod {
	at := func() metav1.Time { return metav1.Unix(1_700_000_000+int64(r.IntN(1+alike)), 0) }
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("p%d", i), Annotations: map[string]string{}, CreationTimestamp: at(),
		UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i)),
	}}
	pod.Status.Phase = v1.PodRunning
	if r.IntN(2) == 0 {
		pod.Status.Phase = pick(r, v1.PodRunning, v1.PodRunning, v1.PodPending, v1.PodUnknown, v1.PodSucceeded, v1.PodFailed)
	}
	if r.IntN(4) > 0 {
		pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	if pod.Status.Phase != v1.PodPending || r.IntN(2) == 0 {
		pod.Spec.NodeName = pick(r, "a", "b")
	}
	if r.IntN(4) > 0 {
		pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at()}}
		if r.IntN(10) == 0 {
			pod.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		}
	}
	if r.IntN(2) < alike {
		pod.Status.ContainerStatuses = []v1.ContainerStatus{{RestartCount: int32(r.IntN(3))}}
	}
	if r.IntN(4) == 0 {
		// Neither counts here.
		pod.Annotations[v1.PodDeletionCost] = strconv.Itoa(r.IntN(3))
	}
	if r.IntN(12) == 0 {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	}
	return pod
}

// newIndex is the text of a completion index, for one of so many pods.
func newIndex(r *rand.Rand, pods int) string {
	switch {
	case r.IntN(10) == 0:
		return pick(r, "", "-1", "-0", "+2", "03", "x", "1.0", "9223372036854775807", "9223372036854775808", "2147483648")
	case pods > 12:
		return strconv.Itoa(r.IntN(min(pods, 400)))
	}
	return strconv.Itoa(r.IntN(1 + pick(r, 2, 5, 12)))
}

// addEnds gives a Job what may end it, and its pods what they failed by. It returns the time of the sync. Most Jobs do not end.
func addEnds(r *rand.Rand, job *batchv1.Job, pods []*v1.Pod) time.Time {
	spec, status, now := &job.Spec, &job.Status, time.Unix(1_700_000_100, int64(pick(r, 0, 0, 1, 999_999_999)))
	rarely := func() bool { return r.IntN(6) == 0 }
	isIndexed := *spec.CompletionMode == batchv1.IndexedCompletion
	if rarely() {
		spec.BackoffLimit = new(int32(r.IntN(4)))
		if r.IntN(2) == 0 {
			spec.Template.Spec.RestartPolicy = pick(r, v1.RestartPolicyOnFailure, v1.RestartPolicyOnFailure, v1.RestartPolicyNever)
		}
		if r.IntN(2) == 0 {
			status.Failed = int32(r.IntN(3))
		}
	}
	if rarely() {
		spec.PodReplacementPolicy = new(pick(r, batchv1.Failed, batchv1.TerminatingOrFailed))
	}
	if rarely() {
		spec.ActiveDeadlineSeconds = new(pick[int64](r, 0, 1, 60, 60, 60, 60, 1<<33, 1<<34, 1<<62))
	}
	if r.IntN(4) > 0 {
		status.StartTime = &metav1.Time{Time: time.Unix(now.Unix()-int64(pick(r, 0, 1, 59, 60, 61, -5)), 0)}
	}
	if rarely() {
		spec.PodFailurePolicy = newPodFailurePolicy(r)
	}
	if isIndexed && rarely() {
		spec.BackoffLimitPerIndex = new(int32(r.IntN(3)))
		if r.IntN(2) == 0 {
			spec.PodFailurePolicy = newPodFailurePolicy(r)
		}
		if r.IntN(2) == 0 {
			spec.MaxFailedIndexes = new(int32(r.IntN(4)))
		}
		if r.IntN(2) == 0 {
			status.FailedIndexes = new(pick(r, "", "0", "1,3", "2-4", "5-20", "0,2-3,6"))
		}
	}
	if spec.PodFailurePolicy != nil {
		// With another one, the API server rejects the Job.
		spec.PodReplacementPolicy = new(batchv1.Failed)
	}
	if isIndexed && rarely() {
		spec.SuccessPolicy = newSuccessPolicy(r)
	}
	for _, pod := range pods {
		addFailure(r, status, pod)
	}
	return now
}

// addFailure gives a pod what it failed by, if it has failed or is being deleted.
func addFailure(r *rand.Rand, status *batchv1.JobStatus, pod *v1.Pod) {
	if r.IntN(2) == 0 {
		pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = pick(r, "0", "1", "2", "5", "-1", "x", "+2", "2147483648")
	}
	if r.IntN(8) == 0 {
		pod.Status.InitContainerStatuses = []v1.ContainerStatus{{Name: "init", RestartCount: int32(r.IntN(3))}}
	}
	if pod.Status.Phase != v1.PodFailed && pod.DeletionTimestamp == nil {
		return
	}
	if r.IntN(8) == 0 {
		if status.UncountedTerminatedPods == nil {
			status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		}
		status.UncountedTerminatedPods.Failed = append(status.UncountedTerminatedPods.Failed, pod.UID)
	}
	ended := v1.ContainerStatus{Name: pick(r, "main", "init"), State: v1.ContainerState{
		Terminated: &v1.ContainerStateTerminated{ExitCode: int32(r.IntN(4))}}}
	switch r.IntN(4) {
	case 0:
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, ended)
	case 1:
	default:
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, ended)
	}
	if r.IntN(2) == 0 {
		pod.Status.Conditions = append(pod.Status.Conditions,
			v1.PodCondition{Type: v1.DisruptionTarget, Status: pick(r, v1.ConditionTrue, v1.ConditionFalse)})
	}
}

func newPodFailurePolicy(r *rand.Rand) *batchv1.PodFailurePolicy {
	policy := &batchv1.PodFailurePolicy{}
	for range 1 + r.IntN(3) {
		rule := batchv1.PodFailurePolicyRule{Action: pick(r, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
			batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex, "Unknown")}
		if r.IntN(2) == 0 {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: pick(r, v1.DisruptionTarget, v1.PodReady),
				Status: pick(r, v1.ConditionTrue, v1.ConditionFalse)}}
		}
		if r.IntN(2) == 0 {
			codes := &batchv1.PodFailurePolicyOnExitCodesRequirement{Values: []int32{int32(r.IntN(4))},
				Operator: pick(r, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn, "Unknown")}
			if r.IntN(2) == 0 {
				codes.ContainerName = new(pick(r, "main", "init"))
			}
			rule.OnExitCodes = codes
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}

func newSuccessPolicy(r *rand.Rand) *batchv1.SuccessPolicy {
	policy := &batchv1.SuccessPolicy{}
	for range 1 + r.IntN(2) {
		var rule batchv1.SuccessPolicyRule
		if r.IntN(2) == 0 {
			rule.SucceededIndexes = new(pick(r, "", "0", "1,3", "0-2", "2-4,7", "20", "8-20"))
		}
		if r.IntN(2) == 0 {
			rule.SucceededCount = new(int32(1 + r.IntN(3)))
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}
