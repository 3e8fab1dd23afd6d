// Stateful plays rounds on the control plane that KUBECONFIG and ETCD name: each gives a StatefulSet random pods, some of them
// broken, dumps it, asks the preview what the next sync takes, lets the real controller take it, and compares by UID.
//
// A finalizer holds what is deleted, so that no later sync takes more: a terminating pod is waited for, or uses up the budget.
//
//	stateful [-record FILE] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podrank/podrank/cluster/internal/control"
)

const (
	name      = "db"
	finalizer = "podrank.dev/hold"
	// How long nothing must happen until a round counts as over. The controller needs milliseconds for a sync.
	quiet   = 700 * time.Millisecond
	tooLong = 60 * time.Second
)

// A Round is what is recorded of one: the objects as the preview read them, the question, and what went.
type Round struct {
	Kind     string    `json:"kind"`
	Replicas int32     `json:"replicas"`
	Now      time.Time `json:"now"`
	Items    []any     `json:"items"`
	Gone     []string  `json:"gone"`
}

type prediction struct {
	Delete  int `json:"delete"`
	Blocked []struct {
		Name, By, Rule string
	} `json:"blocked"`
	Pods []struct {
		Name, UID, Verdict, Rule string
	} `json:"pods"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stateful:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	keep := flag.String("keep", ".", "the directory for what was found wrong")
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	flag.Parse()
	count, err1 := strconv.Atoi(flag.Arg(0))
	seed, err2 := strconv.ParseUint(flag.Arg(1), 10, 64)
	if err := errors.Join(err1, err2); err != nil || flag.NArg() != 2 {
		return fmt.Errorf("want a number of rounds and a seed: %w", err)
	}
	plane, err := control.Connect()
	if err != nil {
		return err
	}
	tally, wrong, rounds := map[string]int{}, 0, []*Round{}
	for number := 1; number <= count; number++ {
		r := &round{plane: plane, r: rand.New(rand.NewPCG(seed, uint64(number))), podrank: *podrank, tally: tally,
			namespace: fmt.Sprintf("stateful-%d-%d", seed, number)}
		recorded, err := r.play(ctx)
		if contradiction := (*contradiction)(nil); errors.As(err, &contradiction) {
			wrong++
			fmt.Printf("round %d: %v\n", number, err)
			file := filepath.Join(*keep, r.namespace+".json")
			if err := os.WriteFile(file, contradiction.dump, 0o644); err != nil {
				return err
			}
		} else if err != nil {
			return fmt.Errorf("round %d: %w", number, err)
		}
		rounds = append(rounds, recorded)
		if err := r.cleanUp(ctx); err != nil {
			return fmt.Errorf("round %d: %w", number, err)
		}
	}
	fmt.Printf("%d rounds of seed %d\n", count, seed)
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		fmt.Printf("%6d %s\n", tally[what], what)
	}
	if *recordFile != "" {
		if err := write(*recordFile, rounds); err != nil {
			return err
		}
	}
	fmt.Printf("%d rounds contradict the preview\n", wrong)
	if wrong > 0 {
		return fmt.Errorf("what contradicts the preview is kept in %s", *keep)
	}
	return nil
}

func write(file string, rounds []*Round) error {
	var text bytes.Buffer
	zip, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zip)
	for _, round := range rounds {
		if err := encoder.Encode(round); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

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
	namespace string
	tally     map[string]int
	set       *appsv1.StatefulSet
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// play builds a StatefulSet, asks, triggers and compares.
func (r *round) play(ctx context.Context) (*Round, error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	size := 2 + r.r.Int32N(4)
	if err := r.create(ctx, size); err != nil {
		return nil, err
	}
	isUpdate := r.r.IntN(2) == 0
	if isUpdate {
		if err := r.change(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.breakPods(ctx, isUpdate); err != nil {
		return nil, err
	}
	if err := r.awaitQuiet(ctx); err != nil {
		return nil, err
	}

	// The trigger, and what the preview is asked.
	wanted, partition := size, int32(0)
	if !isUpdate || r.r.IntN(3) == 0 {
		wanted = r.r.Int32N(size + 1)
	}
	if isUpdate {
		partition = r.r.Int32N(size)
	} else {
		partition = size
	}
	items, dump, err := r.dump(ctx, partition)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	predicted, err := r.ask(ctx, dump, wanted, now)
	if err != nil {
		return nil, err
	}
	before, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	patch := fmt.Sprintf(`{"spec":{"replicas":%d,"updateStrategy":{"rollingUpdate":{"partition":%d}}}}`, wanted, partition)
	if err := r.patchSet(ctx, patch); err != nil {
		return nil, err
	}
	if err := r.awaitQuiet(ctx); err != nil {
		return nil, err
	}
	after, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	var gone []string
	for uid, pod := range before {
		left, ok := after[uid]
		if pod.DeletionTimestamp == nil && (!ok || left.DeletionTimestamp != nil) {
			gone = append(gone, string(uid))
		}
	}
	slices.Sort(gone)
	kind := fmt.Sprintf("%s, scaled %t, updated %t", r.set.Spec.PodManagementPolicy, wanted < size, isUpdate)
	recorded := &Round{Kind: kind, Replicas: wanted, Now: now, Items: items, Gone: gone}
	r.tally[kind]++
	var certain []string
	for _, pod := range predicted.Pods {
		r.tally["verdict "+pod.Verdict]++
		r.tally["rule "+pod.Rule]++
		if pod.Verdict == "delete" {
			certain = append(certain, pod.UID)
		}
	}
	slices.Sort(certain)
	if len(predicted.Blocked) > 0 && len(gone) == 0 {
		r.tally["round in which everything waits"]++
	}
	if !slices.Equal(certain, gone) {
		text := fmt.Sprintf("%s, to %d, partition %d: %d pods went, the preview says %+v", kind, wanted, partition, len(gone), predicted.Pods)
		for _, uid := range gone {
			text += "\n  went: " + before[types.UID(uid)].Name
		}
		return recorded, &contradiction{text, dump}
	}
	return recorded, nil
}

// create makes a StatefulSet whose pods are all ready.
func (r *round) create(ctx context.Context, size int32) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	if _, err := r.plane.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	labels := map[string]string{"app": name}
	unavailable := pick(r.r, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%"))
	partition := size
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: name,
			PodManagementPolicy: pick(r.r, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &unavailable},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: []string{finalizer}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "db:1"}}},
			},
		},
	}
	if r.r.IntN(3) == 0 {
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: pick(r.r, int32(1), 3, 8)}
	}
	var err error
	if r.set, err = r.plane.AppsV1().StatefulSets(r.namespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		pods, err := r.pods(ctx)
		if err != nil {
			return err
		}
		ready := 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodRunning {
				ready++
			} else if err := r.give(ctx, pod, corev1.PodRunning, corev1.ConditionTrue); err != nil {
				return err
			}
		}
		if ready == int(size) {
			return nil
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// change gives it another template. The partition keeps the controller from updating any pod yet.
func (r *round) change(ctx context.Context) error {
	patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"db:2"}]}}}}`, name)
	if err := r.patchSet(ctx, patch); err != nil {
		return err
	}
	return r.awaitQuiet(ctx)
}

// breakPods makes some pods unready, pending or terminating, and if it is an update, some new.
func (r *round) breakPods(ctx context.Context, isUpdate bool) error {
	pods, err := r.pods(ctx)
	if err != nil {
		return err
	}
	share := pick(r.r, 0, 0, 15, 40)
	// In the order of their names, as maps have none.
	for _, pod := range slices.SortedFunc(maps.Values(pods), func(a, b *corev1.Pod) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }) {
		if isUpdate && r.r.IntN(4) == 0 {
			patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, appsv1.StatefulSetRevisionLabel, r.set.Status.UpdateRevision)
			if _, err := r.plane.CoreV1().Pods(r.namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		if r.r.IntN(100) >= share {
			continue
		}
		switch r.r.IntN(4) {
		case 0, 1:
			err = r.give(ctx, pod, corev1.PodRunning, corev1.ConditionFalse)
		case 2:
			err = r.give(ctx, pod, corev1.PodPending, corev1.ConditionFalse)
		case 3:
			err = r.plane.CoreV1().Pods(r.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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

func (r *round) patchSet(ctx context.Context, patch string) error {
	kind := types.StrategicMergePatchType
	_, err := r.plane.AppsV1().StatefulSets(r.namespace).Patch(ctx, name, kind, []byte(patch), metav1.PatchOptions{})
	return err
}

// awaitQuiet waits until the controller has seen the spec, and nothing has changed for a while.
func (r *round) awaitQuiet(ctx context.Context) error {
	last, since := "", time.Now()
	for {
		set, err := r.plane.AppsV1().StatefulSets(r.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pods, err := r.plane.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		state := set.ResourceVersion
		for _, pod := range pods.Items {
			state += " " + pod.Name + pod.ResourceVersion
		}
		if state != last || set.Status.ObservedGeneration != set.Generation {
			last, since = state, time.Now()
		} else if time.Since(since) > quiet {
			r.set = set
			return nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
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

// dump returns the namespace as kubectl prints it, with the partition that the trigger sets, and without what no preview
// reads.
func (r *round) dump(ctx context.Context, partition int32) ([]any, []byte, error) {
	command := exec.CommandContext(ctx, "kubectl", "--kubeconfig", r.plane.Kubeconfig, "--namespace", r.namespace,
		"--cache-dir", filepath.Join(filepath.Dir(r.plane.Kubeconfig), "kubectl"), "get", "pods,statefulsets", "-o", "json")
	text, err := command.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("kubectl get: %w", err)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, nil, err
	}
	items := []any{}
	for _, item := range list.Items {
		spec := item["spec"].(map[string]any)
		if item["kind"] == "Pod" {
			item["spec"] = map[string]any{"nodeName": spec["nodeName"]}
		} else {
			spec["updateStrategy"].(map[string]any)["rollingUpdate"].(map[string]any)["partition"] = partition
			delete(spec, "template")
		}
		items = append(items, item)
	}
	dump, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	return items, dump, err
}

func (r *round) ask(ctx context.Context, dump []byte, replicas int32, now time.Time) (*prediction, error) {
	command := exec.CommandContext(ctx, r.podrank, "sts/"+name, "--replicas", fmt.Sprint(replicas),
		"--now", now.Format(time.RFC3339Nano), "-o", "json", "-f", "-")
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

// cleanUp removes a round's objects. The namespaces stay, empty.
func (r *round) cleanUp(ctx context.Context) error {
	now, orphan := int64(0), metav1.DeletePropagationOrphan
	sets := r.plane.AppsV1().StatefulSets(r.namespace)
	if err := sets.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		return err
	}
	pods := r.plane.CoreV1().Pods(r.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range list.Items {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
}

func sleep(ctx context.Context, time_ time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time_):
		return nil
	}
}
