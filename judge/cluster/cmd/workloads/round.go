package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
)

const (
	// finalizer holds what is deleted. So later syncs, for which it is terminating, cannot be taken for the first one.
	finalizer = "podrank.dev/hold"
	// quiet is how long nothing must happen until a round counts as over. Controllers need milliseconds for a sync.
	quiet   = 700 * time.Millisecond
	tooLong = 60 * time.Second
)

// A scenario is what differs between kinds of workload.
type scenario interface {
	// prepare makes the workload and its pods, and waits until the controller has nothing to do.
	prepare(ctx context.Context)
	// types are what the preview reads, as `kubectl get` takes them.
	types() string
	// question draws what will be changed, changes the dump in the same way if the preview has no flag for it, and returns
	// what the preview is asked.
	question(items []map[string]any) question
	// trigger makes the change.
	trigger(ctx context.Context)
	// isLate says whether the controller may have acted earlier.
	isLate(before map[types.UID]*corev1.Pod) bool
	// settle waits until the sync is over.
	settle(ctx context.Context)
}

// A question is what the preview is asked: about a workload, such as sts/db.
type question struct {
	Kind        string `json:"kind"`
	Workload    string `json:"workload"`
	Replicas    *int32 `json:"replicas,omitempty"`
	Parallelism *int32 `json:"parallelism,omitempty"`
	Partial     bool   `json:"partial,omitempty"`
}

// A record is one round: the question, the objects as the preview read them, and the UIDs of the deleted pods.
type record struct {
	question
	Now   time.Time        `json:"now"`
	Items []map[string]any `json:"items"`
	Gone  []string         `json:"gone"`
}

type prediction struct {
	Deletions        struct{ Max int }
	CertainDeletions int
	Groups           []struct {
		Pods []struct {
			Name, UID, Verdict string
			Reason             struct{ Rule, Text string }
		}
	}
}

type round struct {
	*rounds.Rounds
	r         *rand.Rand
	namespace string
	// The workload's.
	resource, name string
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// play prepares, asks, triggers and compares. It returns the round and a contradiction to the preview, or no round if
// the controller was faster.
func (r *round) play(ctx context.Context, s scenario) (*record, string) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	s.prepare(ctx)
	items := r.dump(ctx, s.types())
	played := &record{question: s.question(items), Now: time.Now().UTC(), Items: items}
	before := r.pods(ctx)
	s.trigger(ctx)
	if s.isLate(before) {
		return nil, ""
	}
	s.settle(ctx)
	after := r.pods(ctx)
	for uid, pod := range before {
		left, ok := after[uid]
		if pod.DeletionTimestamp == nil && (!ok || left.DeletionTimestamp != nil) {
			played.Gone = append(played.Gone, string(uid))
		}
	}
	slices.Sort(played.Gone)
	predicted := r.ask(ctx, played)
	r.Count("round: "+played.Kind, 1)
	return played, r.compare(predicted, played.Gone)
}

// isLate is for controllers that wait for the change.
func (r *round) isLate(map[types.UID]*corev1.Pod) bool { return false }

// compare returns what contradicts the preview, if anything does.
func (r *round) compare(predicted *prediction, gone []string) (text string) {
	// A workload of these kinds has one group.
	possible := 0
	for _, pod := range predicted.Groups[0].Pods {
		went := slices.Contains(gone, pod.UID)
		r.Count("verdict: "+pod.Verdict, 1)
		r.Count("rule: "+pod.Reason.Rule, 1)
		switch {
		case pod.Verdict == "possible" && went:
			possible++
		case pod.Verdict != "possible" && went != (pod.Verdict == "deleted"):
			text += fmt.Sprintf("%s %s because %s, but went: %v\n", pod.Verdict, pod.Name, pod.Reason.Text, went)
		}
	}
	if open := predicted.Deletions.Max - predicted.CertainDeletions; possible != open {
		text += fmt.Sprintf("%d of the possible pods went, and not %d\n", possible, open)
	}
	return text
}

func (r *round) pods(ctx context.Context) map[types.UID]*corev1.Pod {
	pods := map[types.UID]*corev1.Pod{}
	for _, pod := range r.podsByName(ctx) {
		pods[pod.UID] = &pod
	}
	return pods
}

// podsByName are in the order of their names, so that a seed gives each the same facts.
func (r *round) podsByName(ctx context.Context) []corev1.Pod {
	pods := must.Get(r.Plane.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})).Items
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// awaitPods waits until there are so many pods.
func (r *round) awaitPods(ctx context.Context, count int) {
	for len(r.pods(ctx)) != count {
		sleep(ctx, 20*time.Millisecond)
	}
}

// give sets a pod's phase and whether it is ready, for a minute already.
func (r *round) give(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, ready corev1.ConditionStatus) {
	r.Plane.PatchPod(ctx, pod, map[string]any{"status": map[string]any{
		"phase": phase,
		"conditions": []corev1.PodCondition{{Type: corev1.PodReady, Status: ready,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute))}},
	}}, "status")
}

func (r *round) label(ctx context.Context, pod *corev1.Pod, key, value string) {
	r.Plane.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{"labels": map[string]string{key: value}}})
}

// patch changes the workload.
func (r *round) patch(ctx context.Context, fields string) {
	r.Plane.Patch(ctx, r.resource, r.namespace, r.name, fields)
}

// get reads the workload.
func (r *round) get(ctx context.Context) *unstructured.Unstructured {
	return must.Get(r.Plane.Of(r.resource, r.namespace).Get(ctx, r.name, metav1.GetOptions{}))
}

// settle waits until the controller has observed the workload's spec, and nothing has changed for a while.
func (r *round) settle(ctx context.Context) {
	for last, since := "", time.Now(); time.Since(since) <= quiet; sleep(ctx, 50*time.Millisecond) {
		workload := r.get(ctx)
		state := workload.GetResourceVersion()
		for _, pod := range r.podsByName(ctx) {
			state += " " + pod.Name + pod.ResourceVersion
		}
		observed, _, err := unstructured.NestedInt64(workload.Object, "status", "observedGeneration")
		must.Do(err)
		if state != last || observed != workload.GetGeneration() {
			last, since = state, time.Now()
		}
	}
}

// dump returns the objects as kubectl prints them, without what no preview reads.
func (r *round) dump(ctx context.Context, types string) []map[string]any {
	var list struct{ Items []map[string]any }
	preview.GetInto(ctx, r.Plane.Kubeconfig, r.namespace, types, &list)
	for _, item := range list.Items {
		delete(item, "data")
		if item["kind"] == "Pod" {
			spec := item["spec"].(map[string]any)
			item["spec"] = map[string]any{"nodeName": spec["nodeName"], "affinity": spec["affinity"]}
		}
	}
	return list.Items
}

func (r *round) ask(ctx context.Context, asked *record) *prediction {
	args := []string{asked.Workload, "--now", asked.Now.Format(time.RFC3339Nano)}
	if asked.Replicas != nil {
		args = append(args, "--replicas", fmt.Sprint(*asked.Replicas))
	}
	if asked.Parallelism != nil {
		args = append(args, "--parallelism", fmt.Sprint(*asked.Parallelism))
	}
	if asked.Partial {
		args = append(args, "--partial")
	}
	args = append(args, "--kubernetes-version", must.Get(r.Plane.Discovery().ServerVersion()).GitVersion)
	var answer prediction
	must.Do(r.Podrank.AskInto(ctx, preview.List(asked.Items), &answer, args...))
	return &answer
}

func sleep(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
		must.Do(ctx.Err())
	case <-time.After(duration):
	}
}
