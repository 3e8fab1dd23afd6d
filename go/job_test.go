package podrank

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func jobPod(name, index string, created int64) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01"),
		CreationTimestamp: metav1.Unix(created, 0), Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index},
	}}
	pod.Status.Phase = corev1.PodRunning
	return pod
}

func said(outcomes []Outcome) string {
	var words []string
	for _, o := range outcomes {
		words = append(words, o.Pod.Name+" "+o.Verdict.String()+" "+string(o.Reason))
	}
	return strings.Join(words, ", ")
}

func TestNextJob(t *testing.T) {
	parallelism, completions, mode := int32(3), int32(5), batchv1.IndexedCompletion
	job := defaultedJob()
	job.Spec.Parallelism, job.Spec.Completions, job.Spec.CompletionMode = &parallelism, &completions, &mode
	done := jobPod("done", "0", 1)
	done.Status.Phase, done.Finalizers = corev1.PodSucceeded, []string{batchv1.JobTrackingFinalizer}
	pods := []*corev1.Pod{jobPod("a", "3", 1), jobPod("b", "3", 2), done, jobPod("c", "7", 1), jobPod("d", "x", 1), jobPod("e", "1", 1)}
	step, err := NextJob(job, pods, time.Unix(100, 0))
	if err != nil {
		t.Fatal(err)
	}
	const want = "a keep kept, b delete duplicate, c delete beyond-completions, d delete no-index, e keep kept"
	if said(step.Outcomes) != want || step.Wanted != 3 || step.Deleted != 3 {
		t.Errorf("%s; %+v", said(step.Outcomes), step)
	}
	// The status counts 0 to 2, and 4 is missing.
	job.Status.CompletedIndexes = "0-2"
	if step, err = NextJob(job, pods, time.Unix(100, 0)); err != nil || step.Wanted != 2 {
		t.Errorf("%+v, %v", step, err)
	}
}

func TestNextDaemonSet(t *testing.T) {
	unavailable := intstr.FromString("34%")
	set := defaultedDaemonSet()
	set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &unavailable
	var nodes []DaemonNode
	var pods []*corev1.Pod
	for _, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, DaemonNode{Name: name, MayStart: true, MayKeep: true})
		pod := jobPod(name, "", 1)
		pod.Spec.NodeName = name
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		pods = append(pods, pod)
	}
	pods[2].Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "new"}
	pods[1].Status.Conditions = nil
	step, err := NextDaemonSet(set, "new", nodes, pods, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	// 34 % of 3 nodes are 2, of which one is used up.
	const want = "a delete old-available, b delete old-unavailable, c keep kept"
	if said(step.Outcomes) != want || step.MaxUnavailable != 2 || step.Used != 1 || !step.IsUpdate {
		t.Errorf("%s; %+v", said(step.Outcomes), step)
	}
}

// told are the outcomes as the vectors write them.
func told(outcomes []Outcome) (words []string) {
	groups := map[int]string{}
	for _, o := range outcomes {
		text := o.Verdict.String() + " " + string(o.Reason)
		if o.Verdict == VerdictContested {
			if _, ok := groups[o.Group]; !ok {
				groups[o.Group] = string(rune('a' + len(groups)))
			}
			text += fmt.Sprintf(" %d of %s", o.Quota, groups[o.Group])
		}
		words = append(words, text)
	}
	return words
}

func TestJobJSON(t *testing.T) {
	var file struct {
		Indexes []struct{ Text, Index string }
		Syncs   []struct {
			Name, Source                                        string
			Parallelism, Succeeded                              int32
			Completions                                         *int32
			Indexed, Suspended, Ending, LeftAlone, BeingDeleted bool
			PodFailurePolicy, SuccessPolicy                     bool
			Failed, Restarts, FailedIndexes                     int32
			BackoffLimit, MaxFailedIndexes                      *int32
			ActiveDeadlineSeconds, StartTime                    *int64
			Now                                                 int64
			Pods                                                []struct {
				Phase                     corev1.PodPhase
				Assigned                  bool
				Ready                     any
				Restarts, SidecarRestarts int32
				Created                   *int64
				Index                     *string
			}
			Outcomes []string
		}
	}
	readVectors(t, "job.json", &file)
	for _, c := range file.Indexes {
		pod := jobPod("a", c.Text, 1)
		if index, err := completionIndex(pod); err != nil || strconv.FormatInt(index, 10) != c.Index {
			t.Errorf("%q: %d, %v, and not %s", c.Text, index, err, c.Index)
		}
	}
	always := corev1.ContainerRestartPolicyAlways
	for _, c := range file.Syncs {
		mode := batchv1.NonIndexedCompletion
		if c.Indexed {
			mode = batchv1.IndexedCompletion
		}
		six, job := int32(6), defaultedJob()
		job.Spec.Parallelism, job.Spec.Completions, job.Spec.CompletionMode, job.Spec.Suspend = &c.Parallelism, c.Completions, &mode, &c.Suspended
		job.Spec.ActiveDeadlineSeconds, job.Spec.MaxFailedIndexes, job.Spec.PodFailurePolicy = c.ActiveDeadlineSeconds, c.MaxFailedIndexes, nil
		job.Status.Succeeded, job.Status.Failed = c.Succeeded, c.Failed
		if c.BackoffLimit != nil {
			job.Spec.BackoffLimit = c.BackoffLimit
		}
		if c.StartTime != nil {
			job.Status.StartTime = &metav1.Time{Time: time.Unix(*c.StartTime, 0)}
		}
		if c.Indexed && c.Succeeded > 0 {
			job.Status.CompletedIndexes = fmt.Sprintf("0-%d", c.Succeeded-1)
		}
		if c.FailedIndexes > 0 {
			failed := fmt.Sprintf("%d-%d", *c.Completions-c.FailedIndexes, *c.Completions-1)
			job.Spec.BackoffLimitPerIndex, job.Status.FailedIndexes = &six, &failed
		}
		if c.SuccessPolicy {
			job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: &c.Succeeded}}}
		}
		for kind, is := range map[batchv1.JobConditionType]bool{batchv1.JobFailureTarget: c.Ending, batchv1.JobComplete: c.LeftAlone} {
			if is {
				job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue})
			}
		}
		if c.BeingDeleted {
			job.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		var pods []*corev1.Pod
		if c.Restarts > 0 {
			// It counts although it goes already.
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			pod := jobPod("restarted", "", 0)
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: c.Restarts}}
			pods = append(pods, pod)
		}
		if c.PodFailurePolicy {
			job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}}}}
			pod := jobPod("failed", "", 0)
			pod.Status.Phase = corev1.PodFailed
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}}}}
			pods = append(pods, pod)
		}
		for _, p := range c.Pods {
			pod := jobPod("a", "", 0)
			pod.CreationTimestamp, pod.Annotations, pod.Status.Phase = metav1.Time{}, nil, p.Phase
			if p.Index != nil {
				pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: *p.Index}
			}
			if p.Created != nil {
				pod.CreationTimestamp = metav1.Unix(*p.Created, 0)
			}
			if p.Assigned {
				pod.Spec.NodeName = "node"
			}
			if p.Ready != nil {
				condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
				if seconds, ok := p.Ready.(float64); ok {
					condition.LastTransitionTime = metav1.Unix(int64(seconds), 0)
				}
				pod.Status.Conditions = []corev1.PodCondition{condition}
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: p.Restarts}}
			pod.Spec.InitContainers = []corev1.Container{{Name: "sidecar", RestartPolicy: &always}}
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar", RestartCount: p.SidecarRestarts}}
			pods = append(pods, pod)
		}
		step, err := NextJob(job, pods, time.Unix(c.Now, 0))
		if got := told(step.Outcomes); err != nil || !slices.Equal(got, c.Outcomes) {
			t.Errorf("%s: %q, %v", c.Name, got, err)
		}
	}
}

func TestDaemonSetJSON(t *testing.T) {
	var file []struct {
		Name, Source             string
		MaxSurge, MaxUnavailable intstr.IntOrString
		OnDelete                 bool
		Nodes                    []string
		Pods                     []struct {
			Node    int
			Flags   string
			Created int64
		}
		Outcomes           []string
		Creates, BlockedBy *int
	}
	readVectors(t, "daemon_set.json", &file)
	now := time.Now()
	for _, c := range file {
		set := defaultedDaemonSet()
		set.Spec.MinReadySeconds = 10
		set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "7"}
		*set.Spec.UpdateStrategy.RollingUpdate = appsv1.RollingUpdateDaemonSet{MaxSurge: &c.MaxSurge, MaxUnavailable: &c.MaxUnavailable}
		if c.OnDelete {
			set.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}
		var nodes []DaemonNode
		for i, words := range c.Nodes {
			if has := strings.Fields(words); slices.Contains(has, "exists") {
				nodes = append(nodes, DaemonNode{Name: strconv.Itoa(i), MayStart: slices.Contains(has, "may-start"),
					MayKeep: slices.Contains(has, "may-keep")})
			}
		}
		var pods []*corev1.Pod
		for i, p := range c.Pods {
			has := func(flag string) bool { return slices.Contains(strings.Fields(p.Flags), flag) }
			pod := jobPod(fmt.Sprintf("p%02d", i), "", p.Created)
			pod.Spec.NodeName = strconv.Itoa(p.Node)
			if !has("assigned") {
				pod.Spec.NodeName = ""
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
						MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn,
							Values: []string{strconv.Itoa(p.Node)}}}}}}}}
			}
			if has("ready") {
				since := now
				if has("available") {
					since = now.Add(-time.Minute)
				}
				pod.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)}}
			}
			pod.Labels = map[string]string{}
			if has("current-revision") {
				pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "new"
			}
			if has("current-generation") {
				pod.Labels["pod-template-generation"] = "7"
			}
			if has("being-deleted") {
				pod.DeletionTimestamp = &metav1.Time{Time: now}
			}
			if has("succeeded") {
				pod.Status.Phase = corev1.PodSucceeded
			}
			if has("failed") {
				pod.Status.Phase = corev1.PodFailed
			}
			pods = append(pods, pod)
		}
		step, err := NextDaemonSet(set, "new", nodes, pods, now)
		if got := told(step.Outcomes); err != nil || !slices.Equal(got, c.Outcomes) {
			t.Errorf("%s: %q, %v", c.Name, got, err)
		}
		if c.Creates != nil && step.Created != *c.Creates || (c.BlockedBy != nil) != (step.BlockedBy != nil) {
			t.Errorf("%s: %+v", c.Name, step)
		}
	}
}
