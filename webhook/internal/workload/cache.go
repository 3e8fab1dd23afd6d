package workload

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
)

// Cached says what the caches keep: of pods and sets only metadata, and of everything only what somebody reads.
func Cached() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		NewInformer:      inPages,
		ByObject: map[client.Object]cache.ByObject{
			Metadata("Pod"):                 {Transform: transform(strip)},
			&corev1.Node{}:                  {Transform: transform(stripNode)},
			Metadata("Namespace"):           {Transform: transform(strip), Label: labels.SelectorFromSet(labels.Set{v1alpha1.SteeringLabel: v1alpha1.SteeringEnabled})},
			Metadata(ReplicaSet):            {Transform: transform(strip)},
			Metadata(ReplicationController): {Transform: transform(strip)},
			&v1alpha1.ScaleDownPolicy{}:     {Transform: transform(stripPolicy)},
		},
	}
}

// inPages makes an informer that lists page by page, and keeps of each page only what the cache keeps. A server that can't stream a list would
// send all pods of a cluster together, and all of them would be in memory with all of their metadata.
func inPages(from toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	whole := toolscache.ToListerWatcherWithContext(from)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := whole.ListWithContext(ctx, options)
		if some, ok := list.(*metav1.PartialObjectMetadataList); ok {
			for i := range some.Items {
				// The managed fields say whose this annotation is, so the cache strips these few itself.
				if _, has := some.Items[i].Annotations[cost.Annotation]; !has {
					strip(&some.Items[i])
				}
			}
		}
		return list, err
	})
	list := func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
		list, _, err := pages.List(ctx, metav1.ListOptions{})
		return list, err
	}
	paged := &toolscache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: whole.WatchWithContext}
	return toolscache.NewSharedIndexInformer(paged, object, resync, indexers)
}

// transform makes a transform for objects of one type. What a cache knows of a deleted object, which is of another type,
// was transformed earlier.
func transform[T any](slim func(T) T) func(any) (any, error) {
	return func(object any) (any, error) {
		if whole, ok := object.(T); ok {
			return slim(whole), nil
		}
		return object, nil
	}
}

// strip drops what nobody reads, and has what is often the same only once.
func strip(metadata *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	var kept []string
	if metadata.Kind == "Pod" {
		kept = append(kept, corev1.PodDeletionCost)
		if _, ok := cost.SteeredOf(metadata); ok {
			kept = append(kept, cost.Annotation)
		}
	}
	metadata.Annotations = only(metadata.Annotations, kept...)
	metadata.ManagedFields, metadata.Finalizers, metadata.GenerateName, metadata.Labels = nil, nil, "", nil
	metadata.Namespace = bounded.Once(metadata.Namespace)
	metadata.OwnerReferences = controller(metadata)
	return metadata
}

// stripNode keeps of a node what policies select by.
func stripNode(node *corev1.Node) *corev1.Node {
	slim := &corev1.Node{}
	slim.Name, slim.UID, slim.ResourceVersion, slim.Labels = node.Name, node.UID, node.ResourceVersion, node.Labels
	slim.Spec.Unschedulable = node.Spec.Unschedulable
	for _, taint := range node.Spec.Taints {
		slim.Spec.Taints = append(slim.Spec.Taints, corev1.Taint{Key: bounded.Once(taint.Key), Value: bounded.Once(taint.Value), Effect: taint.Effect})
	}
	for _, condition := range node.Status.Conditions {
		kept := corev1.NodeCondition{Type: bounded.Once(condition.Type), Status: bounded.Once(condition.Status)}
		slim.Status.Conditions = append(slim.Status.Conditions, kept)
	}
	return slim
}

// stripPolicy keeps of a policy that it is there, and whether it needs the pods of the cluster. Who needs to know what it says reads it then: anybody
// may make many, and large ones.
func stripPolicy(policy *v1alpha1.ScaleDownPolicy) *v1alpha1.ScaleDownPolicy {
	slim := &v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{EmptyNodes: policy.Spec.EmptyNodes}}
	slim.Namespace, slim.Name, slim.UID = bounded.Once(policy.Namespace), policy.Name, policy.UID
	slim.ResourceVersion, slim.Generation, slim.DeletionTimestamp = policy.ResourceVersion, policy.Generation, policy.DeletionTimestamp
	return slim
}

// controller returns the reference to the controller alone, if there can be such an object. Anyone who makes an object may give it any number of
// owners, with names as long as they like.
func controller(object metav1.Object) []metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || !cost.IsUUID(string(owner.UID)) || len(owner.Name) > validation.DNS1123SubdomainMaxLength || len(owner.Kind) > validation.DNS1035LabelMaxLength {
		return nil
	}
	return []metav1.OwnerReference{{Kind: bounded.Once(owner.Kind), Name: bounded.Once(owner.Name), UID: bounded.Once(owner.UID), Controller: new(true)}}
}
