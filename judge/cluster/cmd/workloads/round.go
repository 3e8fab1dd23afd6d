package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
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
	prepare(ctx context.Context) error
	// types are what the preview reads, as `kubectl get` takes them.
	types() string
	// question draws what will be changed, changes the dump in the same way if the preview has no flag for it, and returns
	// what the preview is asked.
	question(items []map[string]any) question
	// trigger makes the change. It returns errLate if the controller may have acted earlier.
	trigger(ctx context.Context, before map[types.UID]*corev1.Pod) error
	// settle waits until the sync is over.
	settle(ctx context.Context) error
	// delete removes all but pods and namespaces.
	delete(ctx context.Context) error
}

// A question is what the preview is asked: about a workload, such as sts/db.
type question struct {
	Kind        string `json:"kind"`
	Workload    string `json:"workload"`
	Replicas    *int32 `json:"replicas,omitempty"`
	Parallelism *int32 `json:"parallelism,omitempty"`
	Partial     bool   `json:"partial,omitempty"`
}

// A record is one round: the question, the objects as the preview read them, and the UIDs of the pods that went.
type record struct {
	question
	Now   time.Time        `json:"now"`
	Items []map[string]any `json:"items"`
	Gone  []string         `json:"gone"`
}

type prediction struct {
	Quota   int
	Blocked []struct{ Name string }
	Pods    []struct{ Name, UID, Verdict, Rule, Why string }
}

// errLate is a round in which the controller was faster.
var errLate = errors.New("the controller was faster")

// A contradiction is a round in which the controller did something else than the preview said.
type contradiction struct {
	text string
	dump []byte
}

func (c *contradiction) Error() string { return c.text }

type round struct {
	plane     *control.Plane
	r         *rand.Rand
	podrank   string
	gates     string // as the preview's --feature-gates takes them
	namespace string
	tally     map[string]int
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// play prepares, asks, triggers and compares.
func (r *round) play(ctx context.Context, s scenario) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	if _, err := r.plane.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	items, err := r.dump(ctx, s.types())
	if err != nil {
		return nil, err
	}
	played := &record{question: s.question(items), Now: time.Now().UTC(), Items: items}
	before, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.trigger(ctx, before); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	after, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	for uid, pod := range before {
		left, ok := after[uid]
		if pod.DeletionTimestamp == nil && (!ok || left.DeletionTimestamp != nil) {
			played.Gone = append(played.Gone, string(uid))
		}
	}
	slices.Sort(played.Gone)
	dump, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return nil, err
	}
	predicted, err := r.ask(ctx, dump, played)
	if err != nil {
		return nil, err
	}
	r.tally["round: "+played.Kind]++
	if wrong := r.compare(predicted, played.Gone); wrong != "" {
		return played, &contradiction{fmt.Sprintf("%s\n%s", played.Kind, wrong), dump}
	}
	return played, nil
}

// compare returns what contradicts the preview, if anything does.
func (r *round) compare(predicted *prediction, gone []string) (text string) {
	contested, places := 0, []string{}
	for i, pod := range predicted.Pods {
		went := slices.Contains(gone, pod.UID)
		r.tally["verdict: "+pod.Verdict]++
		r.tally["rule: "+pod.Rule]++
		switch {
		case pod.Verdict == "contested" && went:
			contested++
			places = append(places, fmt.Sprint(i))
		case pod.Verdict != "contested" && went != (pod.Verdict == "delete"):
			text += fmt.Sprintf("%s %s because %s, but went: %v\n", pod.Verdict, pod.Name, pod.Why, went)
		}
	}
	if contested != predicted.Quota {
		text += fmt.Sprintf("%d of the contested pods went, and not %d\n", contested, predicted.Quota)
	}
	if predicted.Quota > 0 {
		r.tally[fmt.Sprintf("contested: %d went, at the places %s", contested, strings.Join(places, " "))]++
	}
	if len(predicted.Blocked) > 0 && len(gone) == 0 {
		r.tally["everything waits"]++
	}
	return text
}

func (r *round) pods(ctx context.Context) (map[types.UID]*corev1.Pod, error) {
	list, err := r.plane.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := map[types.UID]*corev1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].UID] = &list.Items[i]
	}
	return pods, nil
}

// podsByName are in the order of their names, so that a seed gives each the same facts.
func (r *round) podsByName(ctx context.Context) ([]corev1.Pod, error) {
	list, err := r.plane.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// awaitPods waits until there are so many pods.
func (r *round) awaitPods(ctx context.Context, count int) error {
	for {
		pods, err := r.pods(ctx)
		if err != nil || len(pods) == count {
			return err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// give sets a pod's phase and whether it is ready, for a minute already.
func (r *round) give(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, ready corev1.ConditionStatus) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": phase,
		"conditions": []corev1.PodCondition{{Type: corev1.PodReady, Status: ready,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute))}},
	}})
	if err != nil {
		return err
	}
	_, err = r.plane.CoreV1().Pods(r.namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func (r *round) label(ctx context.Context, pod *corev1.Pod, key, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value)
	_, err := r.plane.CoreV1().Pods(r.namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// awaitQuiet waits until the controller has observed the workload's spec, and nothing has changed for a while. workload returns
// its resource version, and whether its status is up to date.
func (r *round) awaitQuiet(ctx context.Context, workload func() (string, bool, error)) error {
	last, since := "", time.Now()
	for {
		state, isObserved, err := workload()
		if err != nil {
			return err
		}
		pods, err := r.podsByName(ctx)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			state += " " + pod.Name + pod.ResourceVersion
		}
		if state != last || !isObserved {
			last, since = state, time.Now()
		} else if time.Since(since) > quiet {
			return nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// dump returns the objects as kubectl prints them, without what no preview reads.
func (r *round) dump(ctx context.Context, types string) ([]map[string]any, error) {
	command := exec.CommandContext(ctx, "kubectl", "--kubeconfig", r.plane.Kubeconfig, "--namespace", r.namespace,
		"--cache-dir", filepath.Join(filepath.Dir(r.plane.Kubeconfig), "kubectl"), "get", types, "-o", "json")
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl get: %w", err)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		delete(item, "data")
		if item["kind"] == "Pod" {
			spec := item["spec"].(map[string]any)
			item["spec"] = map[string]any{"nodeName": spec["nodeName"], "affinity": spec["affinity"]}
		}
	}
	return list.Items, nil
}

func (r *round) ask(ctx context.Context, dump []byte, asked *record) (*prediction, error) {
	args := []string{asked.Workload, "--now", asked.Now.Format(time.RFC3339Nano), "-o", "json", "-f", "-"}
	if asked.Replicas != nil {
		args = append(args, "--replicas", fmt.Sprint(*asked.Replicas))
	}
	if asked.Parallelism != nil {
		args = append(args, "--parallelism", fmt.Sprint(*asked.Parallelism))
	}
	if asked.Partial {
		args = append(args, "--partial")
	}
	if r.gates != "" {
		args = append(args, "--feature-gates", r.gates)
	}
	command := exec.CommandContext(ctx, r.podrank, args...)
	command.Stdin = bytes.NewReader(dump)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	var answer prediction
	return &answer, json.Unmarshal(text, &answer)
}

// deletePods removes a round's pods. The namespaces stay, empty.
func (r *round) deletePods(ctx context.Context) error {
	list, err := r.podsByName(ctx)
	if err != nil {
		return err
	}
	pods, now := r.plane.CoreV1().Pods(r.namespace), int64(0)
	for _, pod := range list {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
}

// orphan deletes a workload, and leaves its pods.
func orphan() metav1.DeleteOptions {
	policy := metav1.DeletePropagationOrphan
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}
