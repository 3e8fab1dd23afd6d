package cost

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// longest is how long it may take to remove a cost.
	longest = 10 * time.Second
	// attempts is how often the program tries to remove a cost if the pod keeps changing.
	attempts = 5
)

var (
	// ErrChanged is the error if the pod has been deleted, or if it has changed and an unchanged one is needed, such as one that still has
	// the same request's annotation. Another pod of its name is never written to.
	ErrChanged = errors.New("the pod has been deleted or has changed")
	// ErrTheirs is the error if another program has written the pod's cost since it was read.
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

// A Writer writes costs and annotations by server-side apply.
type Writer struct {
	client client.Client
	live   client.Reader
	// Slots for writes, and for costs that are removed, for which no request waits.
	writes, undos *semaphore.Weighted
}

// NewWriter returns a writer. live reads from the API server.
func NewWriter(to client.Client, live client.Reader) *Writer {
	return &Writer{client: to, live: live, writes: semaphore.NewWeighted(bounded.Writes), undos: semaphore.NewWeighted(bounded.Undos)}
}

// A Write is an annotation for a pod, with a cost or without.
type Write struct {
	Pod Pod
	// Cost is nil if the pod has none, or that of somebody else, and keeps it.
	Cost    *int32
	Steered Steered
	// Over is the pod's resource version if the write overwrites the cost of its template or a foreign cost. The write
	// fails if the pod has changed since, because it could overwrite a newer cost.
	Over string
	// Previous is the cost of somebody else that is overwritten, now or by an earlier request, or nil.
	Previous *Previous
}

// Write writes costs concurrently, and returns an error for each, or nil. It starts no write after the context has
// ended.
func (w *Writer) Write(ctx context.Context, writes []Write) []error {
	return all(ctx, w.writes, len(writes), func(i int) error {
		write := &writes[i]
		annotations := map[string]string{Annotation: write.Steered.String()}
		if write.Cost != nil {
			annotations[corev1.PodDeletionCost] = strconv.Itoa(int(*write.Cost))
		}
		if write.Previous != nil {
			annotations[PreviousAnnotation] = write.Previous.String()
		}
		return w.apply(ctx, write.Pod, write.Over, write.Over != "", annotations)
	})
}

// An Undo removes a cost.
type Undo struct {
	Pod Pod
	// Steered is the one that was written or seen. If the pod has that of another request by now, its cost is kept. The zero Steered stands for any, and for none.
	Steered Steered
	// Before are the annotations that the pod gets instead, of its template. If the pod has a note of a cost that was overwritten, that cost is restored.
	Before map[string]string
}

// Remove removes costs and annotations of a set, and returns an error for each, or nil. The error is ErrChanged if
// there was nothing to remove.
func (w *Writer) Remove(ctx context.Context, undos []Undo) []error {
	return all(ctx, w.undos, len(undos), func(i int) error {
		ctx, stop := context.WithTimeout(ctx, longest)
		defer stop()
		return w.remove(ctx, &undos[i])
	})
}

func (w *Writer) remove(ctx context.Context, undo *Undo) error {
	var failed error
	before := undo.Before
	for range attempts {
		pod, err := metadata(), error(nil)
		if err := w.live.Get(ctx, undo.Pod.Key, pod); client.IgnoreNotFound(err) != nil {
			return err
		}
		steered, isDue := SteeredOf(pod)
		if isDue = isDue && steered.IsOf(undo.Steered); undo.Steered == (Steered{}) {
			isDue = Wrote(pod, undo.Before)
		}
		if pod.UID != undo.Pod.UID || !isDue {
			return fmt.Errorf("pod %s: %w", undo.Pod.Key.Name, ErrChanged)
		}
		if previous := PreviousOf(pod); previous != nil && OwnerOf(pod, nil) == Ours {
			// Then the cost is not ours any more.
			err, before = w.restore(ctx, pod, *previous), nil
		}
		if err == nil {
			// With the resource version, this does not remove what a later request has written.
			err = w.apply(ctx, undo.Pod, pod.ResourceVersion, false, before)
		}
		if errors.Is(err, ErrTheirs) {
			// Somebody has overwritten the cost, so all that is ours is the annotation.
			err = w.apply(ctx, undo.Pod, pod.ResourceVersion, false, nil)
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		failed = err
	}
	return fmt.Errorf("%d attempts to remove the deletion cost: %v", attempts, failed) // %v: the pod is there
}

// restore gives a pod the cost that was overwritten, in the name of its writer, whose it is then. The pod then has a new resource version. A value
// that does not change would remain ours, so an equal one is changed first, which is ErrChanged.
func (w *Writer) restore(ctx context.Context, pod *metav1.PartialObjectMetadata, previous Previous) error {
	if pod.Annotations[corev1.PodDeletionCost] == previous.Value {
		return cmp.Or(w.apply(ctx, PodOf(pod), pod.ResourceVersion, false, map[string]string{
			corev1.PodDeletionCost: map[bool]string{true: "1", false: "0"}[previous.Value == "0"],
			Annotation:             pod.Annotations[Annotation], PreviousAnnotation: previous.String(),
		}), ErrChanged)
	}
	pod.Annotations = map[string]string{corev1.PodDeletionCost: previous.Value}
	return w.patch(ctx, pod, types.MergePatchType, client.FieldOwner(previous.Manager))
}

// A Fate is what became of a pod.
type Fate struct {
	// IsDeleted is whether it has been deleted, or is being deleted.
	IsDeleted bool
	// Cost is its cost, and Writer who else has written that, or "".
	Cost, Writer string
}

// Fates reads what became of pods, and returns an error for each, or nil.
func (w *Writer) Fates(ctx context.Context, pods []Pod) (fates []Fate, errs []error) {
	fates = make([]Fate, len(pods))
	return fates, all(ctx, w.undos, len(pods), func(i int) error {
		now := metadata()
		err := w.live.Get(ctx, pods[i].Key, now)
		fates[i].IsDeleted = apierrors.IsNotFound(err) || err == nil && (now.UID != pods[i].UID || now.DeletionTimestamp != nil)
		if now.UID == pods[i].UID {
			fates[i].Cost, fates[i].Writer = now.Annotations[corev1.PodDeletionCost], WriterOf(now)
		}
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

// apply makes these annotations the only fields of the pod that this program manages.
func (w *Writer) apply(ctx context.Context, pod Pod, version string, force bool, annotations map[string]string) error {
	object := metadata()
	object.Namespace, object.Name, object.UID = pod.Key.Namespace, pod.Key.Name, pod.UID
	object.ResourceVersion, object.Annotations = version, annotations
	options := []client.PatchOption{client.FieldOwner(Manager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	return w.patch(ctx, object, types.ApplyPatchType, options...)
}

// patch writes the annotations of this metadata, which is the pod's own afterwards, and says what an error means. The
// UID keeps it from creating a pod, or changing another of the same name. With a resource version, it fails if the pod
// has changed since.
func (w *Writer) patch(ctx context.Context, pod client.Object, kind types.PatchType, opts ...client.PatchOption) error {
	fields := applycorev1.Pod(pod.GetName(), pod.GetNamespace()).WithUID(pod.GetUID())
	if version := pod.GetResourceVersion(); version != "" {
		fields.WithResourceVersion(version)
	}
	// Texts are JSON.
	patch, _ := json.Marshal(fields.WithAnnotations(pod.GetAnnotations()))
	err := w.client.Patch(ctx, pod, client.RawPatch(kind, patch), opts...)
	invalid, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	switch {
	case err == nil:
		return nil
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		err = ErrTheirs
	// The pod of this name may have another UID.
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), invalid.Field == "metadata.uid":
		err = ErrChanged
	}
	return fmt.Errorf("pod %s: %w", pod.GetName(), err)
}

// metadata is that of a pod, to be read or written.
func metadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
}
