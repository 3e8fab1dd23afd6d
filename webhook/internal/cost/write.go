package cost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

const (
	// longest is how long it may take to take a cost off.
	longest = 10 * time.Second
	// attempts is how often a cost is taken off anew because the pod has changed meanwhile.
	attempts = 5
)

var (
	// ErrGone is the error if the pod is gone, or if it has changed and an unchanged one is needed, such as one that still has
	// the same request's mark. Another pod of its name is never written to.
	ErrGone = errors.New("the pod is gone or has changed")
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
	live   client.Reader
	// Slots for writes, and for costs that come off, for which no request waits.
	writes, undos *semaphore.Weighted
	// undoing lets one set of a namespace wait for these.
	undoing bounded.Locks[string]
}

// NewWriter returns a writer. live reads from the API server.
func NewWriter(to client.Client, live client.Reader) *Writer {
	return &Writer{client: to, live: live, writes: semaphore.NewWeighted(bounded.Writes), undos: semaphore.NewWeighted(bounded.Undos)}
}

// A Write is a cost for a pod.
type Write struct {
	Pod  Pod
	Cost int32
	Mark Mark
	// Over is the pod's resource version if the cost of its template is overwritten. The write fails if the pod has changed
	// since: it would otherwise also overwrite a cost that somebody has set meanwhile.
	Over string
}

// Write writes costs, all at once, and returns an error for each, or nil. It starts none after the context has ended.
func (w *Writer) Write(ctx context.Context, writes []Write) []error {
	return all(ctx, w.writes, len(writes), func(i int) error {
		write := &writes[i]
		return w.apply(ctx, write.Pod, write.Over, write.Over != "", map[string]string{
			corev1.PodDeletionCost: strconv.Itoa(int(write.Cost)), Annotation: write.Mark.String(),
		})
	})
}

// An Undo takes a cost off.
type Undo struct {
	Pod Pod
	// Mark is the one that was written or seen. If the pod has that of another request by now, its cost stays.
	Mark Mark
	// Before are the annotations that the pod gets instead.
	Before map[string]string
}

// TakeOff takes costs and marks of a set off, and returns an error for each, or nil. The error is ErrGone if there was nothing to take
// off.
func (w *Writer) TakeOff(ctx context.Context, undos []Undo) []error {
	if len(undos) == 0 {
		return nil
	}
	end, err := w.undoing.Lock(ctx, undos[0].Pod.Key.Namespace)
	if err != nil {
		return slices.Repeat([]error{err}, len(undos))
	}
	defer end()
	return all(ctx, w.undos, len(undos), func(i int) error {
		ctx, stop := context.WithTimeout(ctx, longest)
		defer stop()
		return w.takeOff(ctx, &undos[i])
	})
}

func (w *Writer) takeOff(ctx context.Context, undo *Undo) error {
	var err error
	for range attempts {
		pod := metadata()
		if err := w.live.Get(ctx, undo.Pod.Key, pod); client.IgnoreNotFound(err) != nil {
			return err
		}
		if mark, ok := MarkOf(pod); pod.UID != undo.Pod.UID || !ok || !mark.IsOf(undo.Mark) {
			return fmt.Errorf("pod %s: %w", undo.Pod.Key.Name, ErrGone)
		}
		// The resource version keeps this from taking off what a later request writes meanwhile.
		err = w.apply(ctx, undo.Pod, pod.ResourceVersion, false, undo.Before)
		if errors.Is(err, ErrTheirs) {
			// Somebody has overwritten the cost, so all that is ours is the mark.
			err = w.apply(ctx, undo.Pod, pod.ResourceVersion, false, nil)
		}
		if !errors.Is(err, ErrGone) {
			return err
		}
	}
	return fmt.Errorf("%d attempts to take the deletion cost off: %v", attempts, err) // %v: the pod is there
}

// AreGone reads whether pods are gone or going, and returns an error for each, or nil.
func (w *Writer) AreGone(ctx context.Context, pods []Pod) (gone []bool, errs []error) {
	gone = make([]bool, len(pods))
	return gone, all(ctx, w.undos, len(pods), func(i int) error {
		now := metadata()
		err := w.live.Get(ctx, pods[i].Key, now)
		gone[i] = apierrors.IsNotFound(err) || err == nil && (now.UID != pods[i].UID || now.DeletionTimestamp != nil)
		return client.IgnoreNotFound(err)
	})
}

// all does something for each index, as many at a time as there are slots, until the context ends.
func all(ctx context.Context, slots *semaphore.Weighted, count int, do func(int) error) []error {
	results := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		if results[i] = slots.Acquire(ctx, 1); results[i] != nil {
			continue
		}
		group.Go(func() {
			defer slots.Release(1)
			results[i] = do(i)
		})
	}
	group.Wait()
	return results
}

// apply makes these annotations the only fields of the pod that this program manages. The UID keeps it from creating a pod, or
// changing another of the same name. With a resource version, it fails if the pod has changed since.
func (w *Writer) apply(ctx context.Context, pod Pod, version string, force bool, annotations map[string]string) error {
	fields := applycorev1.Pod(pod.Key.Name, pod.Key.Namespace).WithUID(pod.UID).WithAnnotations(annotations)
	if version != "" {
		fields.WithResourceVersion(version)
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	object := metadata()
	object.Namespace, object.Name = pod.Key.Namespace, pod.Key.Name
	options := []client.PatchOption{client.FieldOwner(Manager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	err = w.client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, patch), options...)
	invalid, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	switch {
	case err == nil:
		return nil
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		err = ErrTheirs
	// The pod of this name may have another UID.
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), invalid.Field == "metadata.uid":
		err = ErrGone
	}
	return fmt.Errorf("pod %s: %w", pod.Key.Name, err)
}

// metadata is that of a pod, to be read or written.
func metadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
}
