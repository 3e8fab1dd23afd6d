package steer

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// most is how many bytes the pods of a decision may take, of which each takes about 700.
	most = 16 << 20
	// longest is how many bytes the metadata of a pod may have, because each write of a cost returns it.
	longest = 384 << 10
	// longestSelector is how many bytes a selector may have, because an observed set keeps it.
	longestSelector = 16 << 10
)

// Pods lists a set's active pods and those that count for their ranks: as in Kubernetes, none if the set has no controller. It waits for
// the namespace's turn, and returns of each pod what decisions need.
func (s *Steerer) Pods(ctx context.Context, set *workload.Set) (active, related []*corev1.Pod, err error) {
	end, err := s.Limits.turn(ctx, set.Object.GetNamespace())
	if err != nil {
		return nil, nil, err
	}
	defer end()
	return s.pods(ctx, set)
}

// Set reads a set, when it is the namespace's turn.
func (s *Steerer) Set(ctx context.Context, kind workload.Kind, key types.NamespacedName) (*workload.Set, error) {
	end, err := s.Limits.turn(ctx, key.Namespace)
	if err != nil {
		return nil, err
	}
	defer end()
	return workload.Get(ctx, s.Live, kind, key)
}

// pods is Pods in a turn that has begun.
func (s *Steerer) pods(ctx context.Context, set *workload.Set) (active, related []*corev1.Pod, err error) {
	siblings, err := set.Siblings(ctx, s.Cache, s.Live)
	if err != nil {
		return nil, nil, err
	}
	seen, size := map[types.UID]bool{}, 0
	for _, each := range append([]*workload.Set{set}, siblings...) {
		if len(each.Selector.String()) > longestSelector {
			return nil, nil, fmt.Errorf("the selector of %s has more than %d KiB", each, longestSelector>>10)
		}
		err := bounded.Each(ctx, s.Live, func(page *corev1.PodList) error {
			for i := range page.Items {
				pod := &page.Items[i]
				if !decide.IsActive(pod) || seen[pod.UID] {
					continue
				}
				if pod.ObjectMeta.Size() > longest {
					return fmt.Errorf("the metadata of pod %s has more than %d KiB", pod.Name, longest>>10)
				}
				pod = slim(pod)
				if size += pod.Size(); size > most {
					return fmt.Errorf("what is needed of the pods has more than %d MiB", most>>20)
				}
				seen[pod.UID] = true
				if metav1.GetControllerOfNoCopy(set.Object) != nil {
					related = append(related, pod)
				}
				if set.IsOwn(pod) {
					active = append(active, pod)
				}
			}
			return nil
		}, client.InNamespace(set.Object.GetNamespace()), client.MatchingLabelsSelector{Selector: each.Selector})
		if err != nil {
			return nil, nil, err
		}
	}
	return active, related, nil
}

// slim returns what decisions need of a pod: what Kubernetes' order reads, what policies select by, and whose its cost is.
func slim(pod *corev1.Pod) *corev1.Pod {
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Labels: pod.Labels,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp, OwnerReferences: pod.OwnerReferences,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	for _, key := range []string{corev1.PodDeletionCost, cost.Annotation} {
		if value, ok := pod.Annotations[key]; ok {
			metav1.SetMetaDataAnnotation(&slim.ObjectMeta, key, value)
		}
	}
	if slim.Annotations != nil {
		for _, entry := range pod.ManagedFields {
			if entry.FieldsV1 != nil && (strings.Contains(string(entry.FieldsV1.Raw), corev1.PodDeletionCost) || strings.Contains(string(entry.FieldsV1.Raw), cost.Annotation)) {
				slim.ManagedFields = append(slim.ManagedFields, entry)
			}
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			slim.Status.Conditions = []corev1.PodCondition{{Type: condition.Type, Status: condition.Status, LastTransitionTime: condition.LastTransitionTime}}
			break
		}
	}
	for _, container := range pod.Spec.InitContainers {
		slim.Spec.InitContainers = append(slim.Spec.InitContainers, corev1.Container{Name: container.Name, RestartPolicy: container.RestartPolicy})
	}
	slim.Status.ContainerStatuses, slim.Status.InitContainerStatuses = restarts(pod.Status.ContainerStatuses), restarts(pod.Status.InitContainerStatuses)
	return slim
}

func restarts(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var slim []corev1.ContainerStatus
	for _, status := range all {
		slim = append(slim, corev1.ContainerStatus{Name: status.Name, RestartCount: status.RestartCount})
	}
	return slim
}
