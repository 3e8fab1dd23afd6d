package steer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/workload"
)

var errNoRoom = errors.New("too many pods")

// pods are a set's active pods, and those that count for their ranks: as in Kubernetes, none if the set has no controller. Otherwise the
// active ones are among them.
type pods struct {
	active, related []*corev1.Pod
	// count is how many there is room for, and in which.
	count int
	in    room
}

// Set reads a set, for a comparison.
func (s *Steerer) Set(ctx context.Context, kind workload.Kind, key types.NamespacedName) (*workload.Set, error) {
	end, err := s.Limits.comparing.Lock(ctx, key.Namespace)
	if err != nil {
		return nil, err
	}
	defer end()
	return workload.Get(ctx, s.Later, kind, key)
}

// States are those of a set's pods, for a comparison.
func (s *Steerer) States(ctx context.Context, set *workload.Set) (decide.States, error) {
	end, err := s.Limits.comparing.Lock(ctx, set.Object.GetNamespace())
	if err != nil {
		return nil, err
	}
	defer end()
	all, err := s.pods(ctx, s.Later, toPredict, set, nil)
	if err != nil {
		return nil, err
	}
	defer s.forget(set, all)
	return decide.StatesOf(all.active, all.related), nil
}

// A set is read again after firstPause, and then after twice as long each time, up to lastPause, until its controller has done its work.
const (
	firstPause = time.Second / 2
	lastPause  = 4 * time.Second
)

// Why a prediction cannot be compared. These are the reasons of metrics.
const (
	NotFallen = "CountDidNotFall"
	Changed   = "CountChangedAgain"
	// PodsChanged: other pods came, went or changed meanwhile, such as the new ones of a rollout, whose nodes count.
	PodsChanged = "PodsChanged"
	Deleted     = "SetDeleted"
	Unread      = "CannotBeRead"
	// Unpredicted: podrank returned an error.
	Unpredicted = "CannotBePredicted"
)

// A Comparison is what came of a prediction.
type Comparison struct {
	// Without is why nothing could be compared, or "".
	Without string
	// Gone are the pods that went.
	Gone []decide.Name
	// Wrong says what was predicted wrongly, pod by pod.
	Wrong []string
}

// Compare waits until a scale-down that nobody steered is over, or the context ends, and finds out which pods went and whether that was
// predicted. It only reads.
func (s *Steerer) Compare(ctx context.Context, o *Outcome) Comparison {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		set, err := s.Set(ctx, o.Kind, o.Key)
		switch {
		case apierrors.IsNotFound(err) || err == nil && set.UID() != o.Set.UID():
			return Comparison{Without: Deleted}
		case err != nil && ctx.Err() == nil:
			return Comparison{Without: Unread}
		case err == nil && set.Replicas != o.To && set.Replicas != o.From:
			return Comparison{Without: Changed}
		case err == nil && set.Replicas == o.To && set.IsOver():
			return s.compare(ctx, set, o)
		}
		select {
		case <-ctx.Done():
			return Comparison{Without: NotFallen}
		case <-time.After(wait):
		}
	}
}

func (s *Steerer) compare(ctx context.Context, set *workload.Set, o *Outcome) Comparison {
	now, err := s.States(ctx, set)
	if err != nil {
		return Comparison{Without: Unread}
	}
	then := maps.Clone(o.States)
	var c Comparison
	for _, pod := range o.Active {
		if _, stays := now[pod.UID]; !stays {
			c.Gone = append(c.Gone, pod)
			delete(then, pod.UID)
		}
	}
	if len(c.Gone) != o.Prediction.Delete || !maps.Equal(now, then) {
		return Comparison{Without: PodsChanged}
	}
	c.Wrong = o.Prediction.Wrong(c.Gone)
	return c
}

// forget makes room for others.
func (s *Steerer) forget(set *workload.Set, all *pods) {
	s.Limits.release(all.in, set.Object.GetNamespace(), all.count)
}

// pods lists pods in the namespace's turn, until they are forgotten. visit may look at each of the set's own while it is whole.
func (s *Steerer) pods(ctx context.Context, live *bounded.Reader, in room, set *workload.Set, visit func(*corev1.Pod)) (all *pods, err error) {
	siblings, err := set.Siblings(ctx, s.Cache, live)
	if err != nil {
		return nil, err
	}
	all = &pods{in: in}
	defer func() {
		if err != nil {
			s.forget(set, all)
		}
	}()
	namespace, hasController := set.Object.GetNamespace(), metav1.GetControllerOfNoCopy(set.Object) != nil
	seen, asked := map[types.UID]bool{}, map[string]bool{}
	for _, each := range append([]*workload.Set{set}, siblings...) {
		selector := each.Selector.String()
		if asked[selector] {
			continue
		}
		asked[selector] = true
		err := bounded.Each(ctx, live, func(page *corev1.PodList) error {
			page.Items = slices.DeleteFunc(page.Items, func(pod corev1.Pod) bool { return !decide.IsActive(&pod) || seen[pod.UID] })
			if !s.Limits.hold(in, namespace, len(page.Items)) {
				return fmt.Errorf("%w: at most %d of a namespace are in memory, and %d in all", errNoRoom, in.share, in.all)
			}
			all.count += len(page.Items)
			for i := range page.Items {
				pod := &page.Items[i]
				if pod.ObjectMeta.Size() > bounded.PodBytes {
					return fmt.Errorf("the metadata of pod %s has more than %d KiB", pod.Name, bounded.PodBytes>>10)
				}
				seen[pod.UID] = true
				slim := slim(pod)
				if hasController {
					all.related = append(all.related, slim)
				}
				if set.IsOwn(pod) {
					all.active = append(all.active, slim)
					if visit != nil {
						visit(pod)
					}
				}
			}
			return nil
		}, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: each.Selector})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// why is the result if pods cannot be listed.
func why(err error) Result {
	if errors.Is(err, errNoRoom) {
		return TooMany
	}
	return Failed
}

// slim returns what Kubernetes' order reads of a pod, with the mark of this program, as the cache has it. It takes as much memory for any pod.
func slim(pod *corev1.Pod) *corev1.Pod {
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	if value, ok := pod.Annotations[corev1.PodDeletionCost]; ok {
		metav1.SetMetaDataAnnotation(&slim.ObjectMeta, corev1.PodDeletionCost, value)
	}
	if mark, ok := cost.MarkOf(pod); ok {
		metav1.SetMetaDataAnnotation(&slim.ObjectMeta, cost.Annotation, mark.String())
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			slim.Status.Conditions = []corev1.PodCondition{{Type: condition.Type, Status: condition.Status, LastTransitionTime: condition.LastTransitionTime}}
			break
		}
	}
	// Of the restarts, the most of any container counts, and the most of any sidecar.
	if most := mostRestarts(pod.Status.ContainerStatuses, func(string) bool { return true }); most > 0 {
		slim.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: most}}
	}
	sidecars := map[string]bool{}
	for _, container := range pod.Spec.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars[container.Name] = true
		}
	}
	if most := mostRestarts(pod.Status.InitContainerStatuses, func(name string) bool { return sidecars[name] }); most > 0 {
		slim.Spec.InitContainers, slim.Status.InitContainerStatuses = sidecar, []corev1.ContainerStatus{{Name: sidecar[0].Name, RestartCount: most}}
	}
	return slim
}

var (
	always  = corev1.ContainerRestartPolicyAlways
	sidecar = []corev1.Container{{Name: "sidecar", RestartPolicy: &always}}
)

func mostRestarts(all []corev1.ContainerStatus, counts func(name string) bool) (most int32) {
	for i := range all {
		if counts(all[i].Name) {
			most = max(most, all[i].RestartCount)
		}
	}
	return most
}
