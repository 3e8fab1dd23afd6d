package steer

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// errNoRoom is that there are TooMany.
var errNoRoom = errors.New("too many pods")

// pods are a set's active pods, and those that count for their ranks: as in Kubernetes, none if the set has no controller. Otherwise the
// active ones are among them.
type pods struct {
	active, related []*corev1.Pod
	// forget frees the memory.
	forget func()
}

// list lists pods in the namespace's turn, until they are forgotten. visit may look at each of the set's own while it is whole.
func (s *Steerer) list(ctx context.Context, live *bounded.Reader, in *bounded.Semaphores, set *workload.Set, visit func(*corev1.Pod)) (all *pods, err error) {
	relatedSets, err := set.RelatedSets(ctx, s.Cache, live)
	if err != nil {
		return nil, err
	}
	namespace, hasController := set.Object.GetNamespace(), metav1.GetControllerOfNoCopy(set.Object) != nil
	count, seen, asked := 0, map[types.UID]bool{}, map[string]bool{}
	all = &pods{forget: func() { in.Release(namespace, count) }}
	defer func() {
		if err != nil {
			all.forget()
		}
	}()
	add := func(pod *corev1.Pod) error {
		if !decide.IsActive(pod) || seen[pod.UID] {
			return nil
		}
		if !in.Hold(namespace, 1) {
			return fmt.Errorf("%w: at most %d of a namespace are in memory, and %d in all", errNoRoom, in.Most, in.InAll)
		}
		count++
		if pod.ObjectMeta.Size() > bounded.PodBytes {
			return fmt.Errorf("the metadata of pod %s has more than %d KiB", pod.Name, bounded.PodBytes>>10)
		}
		seen[pod.UID] = true
		slim := slim(pod)
		if hasController {
			all.related = append(all.related, slim)
		}
		if metav1.IsControlledBy(pod, set.Object) {
			all.active = append(all.active, slim)
			if visit != nil {
				visit(pod)
			}
		}
		return nil
	}
	for _, each := range append([]*workload.Set{set}, relatedSets...) {
		selector := each.Selector.String()
		if asked[selector] {
			continue
		}
		asked[selector] = true
		inSet := client.MatchingLabelsSelector{Selector: each.Selector}
		if err := bounded.Each(ctx, live, &corev1.PodList{}, add, client.InNamespace(namespace), inSet); err != nil {
			return all, err
		}
	}
	return all, nil
}

// slim returns what Kubernetes' order reads of a pod, with the annotation of this program, as the cache has it. It takes as much memory for any pod.
func slim(pod *corev1.Pod) *corev1.Pod {
	slim := decide.Slim(pod)
	if steered, ok := cost.SteeredOf(pod); ok {
		metav1.SetMetaDataAnnotation(&slim.ObjectMeta, cost.Annotation, steered.String())
	}
	return slim
}
