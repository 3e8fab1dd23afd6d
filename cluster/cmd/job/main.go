// Job plays rounds on the control plane that KUBECONFIG names: each gives a Job random pods, some with an index that others have,
// dumps it, asks the preview what a lower parallelism takes, sets that, and compares what the real controller takes by UID.
//
// A finalizer holds what is deleted, so that what the first sync took can be told from what later ones take.
//
//	job -podrank PROGRAM -keep DIR N SEED
package main

import (
	"bytes"
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
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/cluster/internal/control"
)

const (
	name      = "import"
	finalizer = "podrank.dev/hold"
	// The controller waits this long after a pod's event before it syncs, and not at all after a change of the Job. A round has to
	// be asked and triggered within it, or the controller acts first.
	batch   = 900 * time.Millisecond
	quiet   = 2500 * time.Millisecond
	tooLong = 60 * time.Second
)

type prediction struct {
	Delete, Quota int
	Pods          []struct{ Name, UID, Verdict, Rule, Why string }
}

// errLate is a round in which the controller was faster.
var errLate = errors.New("the controller was faster")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	keep := flag.String("keep", ".", "the directory for what was found wrong")
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
	tally, wrong, late := map[string]int{}, 0, 0
	for number, done := 1, 0; done < count; number++ {
		r := &round{plane: plane, r: rand.New(rand.NewPCG(seed, uint64(number))), podrank: *podrank, tally: tally,
			namespace: fmt.Sprintf("job-%d-%d", seed, number)}
		dump, contradiction, err := r.play(ctx)
		switch {
		case errors.Is(err, errLate):
			late++
			if late > 10*count {
				return err
			}
		case err != nil:
			return fmt.Errorf("round %d: %w", number, err)
		default:
			done++
		}
		if contradiction != "" {
			wrong++
			fmt.Printf("round %d: %s\n", number, contradiction)
			if err := os.WriteFile(filepath.Join(*keep, r.namespace+".json"), dump, 0o644); err != nil {
				return err
			}
		}
		if err := r.cleanUp(ctx); err != nil {
			return fmt.Errorf("round %d: %w", number, err)
		}
	}
	fmt.Printf("%d rounds of seed %d; in %d more, the controller was faster\n", count, seed, late)
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		fmt.Printf("%6d %s\n", tally[what], what)
	}
	fmt.Printf("%d rounds contradict the preview\n", wrong)
	if wrong > 0 {
		return fmt.Errorf("what contradicts the preview is kept in %s", *keep)
	}
	return nil
}

type round struct {
	plane     *control.Plane
	r         *rand.Rand
	podrank   string
	namespace string
	tally     map[string]int
	job       *batchv1.Job
}

// play returns what the preview was given, and what contradicts it, if anything does.
func (r *round) play(ctx context.Context) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	size := 2 + r.r.Int32N(4)
	if err := r.create(ctx, size); err != nil {
		return nil, "", err
	}
	start := time.Now()
	if err := r.duplicate(ctx, size); err != nil {
		return nil, "", err
	}
	dump, err := r.kubectl(ctx, nil, "get", "pods,jobs", "-o", "json")
	if err != nil {
		return nil, "", err
	}
	before, err := r.pods(ctx)
	if err != nil {
		return nil, "", err
	}
	parallelism := r.r.Int32N(size + 1)
	patch := fmt.Sprintf(`{"spec":{"parallelism":%d}}`, parallelism)
	if _, err := r.jobs().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return nil, "", err
	}
	isLate := time.Since(start) > batch
	for _, pod := range before {
		isLate = isLate || pod.DeletionTimestamp != nil
	}
	if isLate {
		return nil, "", errLate
	}
	predicted, err := r.ask(ctx, dump, parallelism)
	if err != nil {
		return nil, "", err
	}
	if err := sleep(ctx, quiet); err != nil {
		return nil, "", err
	}
	after, err := r.pods(ctx)
	if err != nil {
		return nil, "", err
	}
	gone := map[string]bool{}
	for uid, pod := range before {
		left, ok := after[uid]
		gone[string(uid)] = pod.DeletionTimestamp == nil && (!ok || left.DeletionTimestamp != nil)
	}
	r.tally[string(*r.job.Spec.CompletionMode)]++
	text, contested := "", 0
	for _, pod := range predicted.Pods {
		r.tally["verdict "+pod.Verdict]++
		r.tally["rule "+pod.Rule]++
		if pod.Verdict == "contested" {
			if gone[pod.UID] {
				contested++
			}
		} else if gone[pod.UID] != (pod.Verdict == "delete") {
			text += fmt.Sprintf("%s %s because %s, but went: %v\n", pod.Verdict, pod.Name, pod.Why, gone[pod.UID])
		}
	}
	if contested != predicted.Quota {
		text += fmt.Sprintf("%d of the contested pods went, and not %d\n", contested, predicted.Quota)
	}
	return dump, text, nil
}

func (r *round) jobs() interface {
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*batchv1.Job, error)
	Create(context.Context, *batchv1.Job, metav1.CreateOptions) (*batchv1.Job, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
} {
	return r.plane.BatchV1().Jobs(r.namespace)
}

// create makes a Job and waits for its pods.
func (r *round) create(ctx context.Context, size int32) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	if _, err := r.plane.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	mode, completions := batchv1.IndexedCompletion, size+2
	if r.r.IntN(3) == 0 {
		mode = batchv1.NonIndexedCompletion
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		Parallelism: &size, Completions: &completions, CompletionMode: &mode,
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Finalizers: []string{finalizer}},
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: name, Image: "import:1"}}},
		},
	}}
	var err error
	if r.job, err = r.jobs().Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		pods, err := r.pods(ctx)
		if err != nil {
			return err
		}
		if len(pods) == int(size) {
			return sleep(ctx, quiet)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// duplicate creates up to four pods as the controller would, with indexes of others, beyond the completions, or none.
func (r *round) duplicate(ctx context.Context, size int32) error {
	isTrue, errs := true, make([]error, 1+r.r.IntN(4))
	var running sync.WaitGroup
	for i := range errs {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-more-%d", name, i), Labels: r.job.Spec.Template.Labels, Annotations: map[string]string{},
				Finalizers: []string{finalizer, batchv1.JobTrackingFinalizer},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: r.job.UID,
					Controller: &isTrue}},
			},
			Spec: r.job.Spec.Template.Spec,
		}
		if r.r.IntN(5) > 0 {
			pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(r.r.IntN(int(size) + 4))
		}
		if r.r.IntN(2) == 0 {
			pod.Spec.NodeName = "node-1"
		}
		running.Go(func() {
			_, errs[i] = r.plane.CoreV1().Pods(r.namespace).Create(ctx, pod, metav1.CreateOptions{})
		})
	}
	running.Wait()
	return errors.Join(errs...)
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

func (r *round) kubectl(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	common := []string{"--kubeconfig", r.plane.Kubeconfig, "--namespace", r.namespace,
		"--cache-dir", filepath.Join(filepath.Dir(r.plane.Kubeconfig), "kubectl")}
	command := exec.CommandContext(ctx, "kubectl", append(common, args...)...)
	command.Stdin = bytes.NewReader(stdin)
	return command.Output()
}

func (r *round) ask(ctx context.Context, dump []byte, parallelism int32) (*prediction, error) {
	command := exec.CommandContext(ctx, r.podrank, "job/"+name, "--parallelism", fmt.Sprint(parallelism), "--partial", "-o", "json", "-f", "-")
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
	if err := r.jobs().Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
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

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}
