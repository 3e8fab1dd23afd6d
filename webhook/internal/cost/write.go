package cost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inFlight is the most writes at a time, of all scale-downs together.
const inFlight = 32

var (
	// ErrGone is the error if the pod is gone. Another pod of its name is never written to.
	ErrGone = errors.New("the pod is gone")
	// ErrTheirs is the error if somebody else has written the pod's cost meanwhile.
	ErrTheirs = errors.New("the deletion cost belongs to another field manager")
)

// A Pod is what identifies a pod.
type Pod struct {
	Key types.NamespacedName
	UID types.UID
}

// PodOf identifies a pod.
func PodOf(pod metav1.Object) Pod {
	return Pod{types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetName()}, pod.GetUID()}
}

// A Writer writes costs and marks by server-side apply.
type Writer struct {
	client client.Client
	slots  chan struct{}
}

// NewWriter returns a writer.
func NewWriter(to client.Client) *Writer {
	return &Writer{to, make(chan struct{}, inFlight)}
}

// A Write is a cost for a pod.
type Write struct {
	Pod  Pod
	Cost int32
	Mark Mark
	// Force is whether the cost of the pod's template is written over.
	Force bool
}

// Write writes costs, all at once, and returns an error for each, or nil. It starts none after the context has ended.
func (w *Writer) Write(ctx context.Context, writes []Write) []error {
	return w.all(len(writes), func(i int) error {
		write := &writes[i]
		return w.apply(ctx, write.Pod, write.Force, map[string]string{
			corev1.PodDeletionCost: strconv.Itoa(int(write.Cost)), Annotation: write.Mark.String(),
		})
	})
}

// TakeOff takes costs and marks off. If the pods' template has a cost, they get that one again. Pods that are gone need
// nothing.
func (w *Writer) TakeOff(ctx context.Context, pods []Pod, template map[string]string) error {
	annotations := map[string]string{}
	if cost, ok := template[corev1.PodDeletionCost]; ok {
		annotations[corev1.PodDeletionCost] = cost
	}
	return errors.Join(w.all(len(pods), func(i int) error {
		if err := w.apply(ctx, pods[i], false, annotations); !errors.Is(err, ErrGone) && !errors.Is(err, ErrTheirs) {
			return err
		}
		return nil
	})...)
}

func (w *Writer) all(count int, do func(int) error) []error {
	results := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		w.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-w.slots }()
			results[i] = do(i)
		})
	}
	group.Wait()
	return results
}

// apply makes these annotations the only fields of the pod that this program manages. The UID keeps it from creating a pod, or
// changing another of the same name.
func (w *Writer) apply(ctx context.Context, pod Pod, force bool, annotations map[string]string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	metadata := map[string]any{"name": pod.Key.Name, "namespace": pod.Key.Namespace, "uid": pod.UID}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	patch, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
	if err != nil {
		return err
	}
	object := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Key.Namespace, Name: pod.Key.Name},
	}
	options := []client.PatchOption{client.FieldOwner(Manager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	err = w.client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, patch), options...)
	switch {
	case err == nil:
		return nil
	case isTheirs(err):
		return fmt.Errorf("pod %s: %w", pod.Key.Name, ErrTheirs)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), isOtherPod(err):
		return fmt.Errorf("pod %s: %w", pod.Key.Name, ErrGone)
	}
	return fmt.Errorf("pod %s: %w", pod.Key.Name, err)
}

// isTheirs reports whether another field manager has the cost.
func isTheirs(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

// isOtherPod reports whether the pod of this name has another UID.
func isOtherPod(err error) bool {
	cause, ok := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return ok && cause.Field == "metadata.uid"
}
