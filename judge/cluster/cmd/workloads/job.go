package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

const (
	// The controller waits this long after a pod's event before it syncs, and not at all after a change of the Job. So pods that it
	// would not leave alone are created last, and the Job has to change within this time.
	batch = 900 * time.Millisecond
	// How long a sync and what follows it may take.
	syncs = 2500 * time.Millisecond
)

// A job has pods whose index another pod has too, is beyond the completions, or is missing, and gets another
// parallelism. In two rounds of three, something ends it, or it gets other completions.
type job struct {
	*round
	size int32
	mode batchv1.CompletionMode
	// When its pods were duplicated, and when it was changed.
	duplicated, triggered time.Time
	parallelism           int32
	end                   end
}

// An end is what ends a Job.
type end struct {
	name    string
	indexed bool // whether only an Indexed Job has it
	// spec is what the Job has from the start, and change what it gets with the parallelism.
	spec   func(*batchv1.JobSpec)
	change map[string]any
	// status is what a pod gets before that.
	status string
}

const failed = `{"status":{"phase":"Failed","containerStatuses":[{"name":"import","image":"import:1","imageID":"","ready":false,` +
	`"restartCount":0,"state":{"terminated":{"exitCode":42}}}]}}`

var ends = []end{
	{},
	{name: "elastic", indexed: true},
	{name: "deadline", change: map[string]any{"activeDeadlineSeconds": 1}},
	{name: "backoff-limit", change: map[string]any{"backoffLimit": 0}, status: failed},
	{name: "restarts", change: map[string]any{"backoffLimit": 3},
		spec: func(spec *batchv1.JobSpec) { spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure },
		status: `{"status":{"phase":"Running","containerStatuses":[{"name":"import","image":"import:1","imageID":"","ready":true,` +
			`"restartCount":3}]}}`},
	{name: "pod-failure-policy", status: failed, spec: func(spec *batchv1.JobSpec) {
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}}}}
	}},
	{name: "max-failed-indexes", indexed: true, status: failed, change: map[string]any{"maxFailedIndexes": 0},
		spec: func(spec *batchv1.JobSpec) {
			perIndex, most := int32(0), int32(2)
			spec.BackoffLimitPerIndex, spec.MaxFailedIndexes = &perIndex, &most
		}},
	{name: "success-policy", indexed: true, status: `{"status":{"phase":"Succeeded"}}`, spec: func(spec *batchv1.JobSpec) {
		one := int32(1)
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: &one}}}
	}},
}

func (j *job) types() string { return "pods,jobs" }

func (j *job) prepare(ctx context.Context) {
	j.size = 2 + j.r.Int32N(4)
	mode, completions := batchv1.IndexedCompletion, j.size+2
	if j.r.IntN(3) > 0 {
		j.end = pick(j.r, ends...)
	}
	if !j.end.indexed && j.r.IntN(3) == 0 {
		mode = batchv1.NonIndexedCompletion
	}
	j.mode = mode
	made := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: j.name, Namespace: j.namespace}, Spec: batchv1.JobSpec{
		Parallelism: &j.size, Completions: &completions, CompletionMode: &mode,
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Finalizers: []string{finalizer}},
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: j.name, Image: "import:1"}}},
		},
	}}
	if j.end.spec != nil {
		j.end.spec(&made.Spec)
	}
	j.Plane.Create(ctx, made)
	j.awaitPods(ctx, int(j.size))
	j.settle(ctx)
	// What the controller made has an index that counts.
	first := j.podsByName(ctx)[0]
	settled := must.Get(j.Plane.BatchV1().Jobs(j.namespace).Get(ctx, j.name, metav1.GetOptions{}))
	j.duplicated = time.Now()
	j.duplicate(ctx, settled)
	if j.end.status != "" {
		j.Plane.Patch(ctx, "pods", j.namespace, first.Name, j.end.status, "status")
	}
}

// duplicate creates up to four pods as the controller would, but with an index that another pod has too, that is beyond
// the completions, or with none.
func (j *job) duplicate(ctx context.Context, made *batchv1.Job) {
	var group errgroup.Group
	for i := range 1 + j.r.IntN(4) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-more-%d", j.name, i), Namespace: j.namespace, Labels: made.Spec.Template.Labels,
				Annotations: map[string]string{}, Finalizers: []string{finalizer, batchv1.JobTrackingFinalizer},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(made, batchv1.SchemeGroupVersion.WithKind("Job"))},
			},
			Spec: made.Spec.Template.Spec,
		}
		if j.r.IntN(5) > 0 {
			pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(j.r.IntN(int(j.size) + 4))
		}
		if j.r.IntN(2) == 0 {
			pod.Spec.NodeName = "node-1"
		}
		group.Go(func() error { return must.Try(func() { j.Plane.Create(ctx, pod) }) })
	}
	must.Do(group.Wait())
}

// question asks of an incomplete dump, as the Job's status counts pods later.
func (j *job) question(items []map[string]any) question {
	j.parallelism = j.r.Int32N(j.size + 1)
	kind := fmt.Sprintf("Job, %s", j.mode)
	if j.end.name != "" {
		kind += ", " + j.end.name
	}
	if j.end.name == "elastic" {
		j.end.change = map[string]any{"completions": j.parallelism}
	}
	for _, item := range items {
		if item["kind"] == "Job" {
			maps.Copy(item["spec"].(map[string]any), j.end.change)
		}
	}
	return question{Kind: kind, Workload: "job/" + j.name, Parallelism: &j.parallelism, Partial: true}
}

func (j *job) trigger(ctx context.Context) {
	spec := map[string]any{"parallelism": j.parallelism}
	maps.Copy(spec, j.end.change)
	j.patch(ctx, string(must.Get(json.Marshal(map[string]any{"spec": spec}))))
	j.triggered = time.Now()
}

func (j *job) isLate(before map[types.UID]*corev1.Pod) bool {
	isLate := j.triggered.Sub(j.duplicated) > batch
	for _, pod := range before {
		isLate = isLate || pod.DeletionTimestamp != nil
	}
	return isLate
}

func (j *job) settle(ctx context.Context) { sleep(ctx, syncs) }
