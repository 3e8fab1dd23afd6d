package podrank

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A ReplicaSetLister lists the ReplicaSets of one namespace: client-go's ReplicaSetNamespaceLister is one.
type ReplicaSetLister interface {
	List(selector labels.Selector) ([]*appsv1.ReplicaSet, error)
}

// A PodLister lists the pods of one namespace: client-go's PodNamespaceLister is one.
type PodLister interface {
	List(selector labels.Selector) ([]*corev1.Pod, error)
}

// RelatedPods returns the pods that Kubernetes counts to rank the pods of a ReplicaSet, for [PodsToDelete] and [Predict].
// These are all pods that any ReplicaSet with the same controller selects, whatever owns them, each listed once.
// ReplicaSets that are being deleted or have 0 replicas count, too. One with an invalid selector adds no pods.
//
// If the set has no controller, RelatedPods returns none, as Kubernetes counts none. If pods on crowded nodes should be deleted first anyway,
// pass its own pods to PodsToDelete as related. Both listers must be for the set's namespace. A nil argument is an error that
// wraps [ErrNil], and so is a nil element of a list.
func RelatedPods(set *appsv1.ReplicaSet, sets ReplicaSetLister, pods PodLister) ([]*corev1.Pod, error) {
	switch {
	case set == nil:
		return nil, errNil("set")
	case isNil(sets):
		return nil, errNil("sets")
	case isNil(pods):
		return nil, errNil("pods")
	}
	controller := metav1.GetControllerOfNoCopy(set)
	if controller == nil {
		return nil, nil
	}
	all, err := sets.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("podrank: listing ReplicaSets: %w", err)
	}
	var related []*corev1.Pod
	seen := map[any]bool{}
	for _, sibling := range all {
		if sibling == nil {
			return nil, errNil("a listed ReplicaSet")
		}
		if owner := metav1.GetControllerOfNoCopy(sibling); owner == nil || owner.UID != controller.UID {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(sibling.Spec.Selector)
		if err != nil {
			// As in Kubernetes: an invalid selector matches nothing.
			continue
		}
		selected, err := pods.List(selector)
		if err != nil {
			return nil, fmt.Errorf("podrank: listing pods: %w", err)
		}
		for _, pod := range selected {
			if pod == nil {
				return nil, errNil("a listed pod")
			}
			if !seen[identity(pod)] {
				seen[identity(pod)] = true
				related = append(related, pod)
			}
		}
	}
	return slices.Clip(related), nil
}
