// Package workload reads the sets whose counts fall: ReplicaSets and ReplicationControllers, which differ little here.
package workload

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A Kind of set.
type Kind string

// The kinds.
const (
	ReplicaSet            Kind = "ReplicaSet"
	ReplicationController Kind = "ReplicationController"
)

const (
	// Revision is where the Deployment controller notes which template a set has.
	Revision = "deployment.kubernetes.io/revision"
	// Desired is where it notes the Deployment's count, in all sets and by the same update that gives a set its share of a new
	// one. A step of a rollout leaves it as it is.
	Desired = "deployment.kubernetes.io/desired-replicas"
)

// A Set is a ReplicaSet or a ReplicationController.
type Set struct {
	Kind Kind
	// Object is what events are about: the set's metadata, as far as anybody needs it.
	Object *metav1.PartialObjectMetadata
	// Replicas is spec.replicas.
	Replicas int32
	// IsOver is whether the set's controller has brought the pods down to the count.
	IsOver          bool
	MinReadySeconds int32
	Selector        labels.Selector
	// TemplateLabels and TemplateAnnotations are what its pods are made with. Of the annotations, it is only the deletion cost.
	TemplateLabels, TemplateAnnotations map[string]string
}

// Get reads a set.
func Get(ctx context.Context, from *bounded.Reader, kind Kind, key types.NamespacedName) (*Set, error) {
	var object client.Object = &appsv1.ReplicaSet{}
	if kind == ReplicationController {
		object = &corev1.ReplicationController{}
	}
	if err := from.Get(ctx, key, object); err != nil {
		return nil, err
	}
	return Of(object)
}

// Of returns what is needed of a ReplicaSet, or of a ReplicationController, which differs from it in nothing else.
func Of(whole client.Object) (*Set, error) {
	kind := ReplicaSet
	set, _ := whole.(*appsv1.ReplicaSet)
	if controller, ok := whole.(*corev1.ReplicationController); ok {
		kind, set = ReplicationController, &appsv1.ReplicaSet{ObjectMeta: controller.ObjectMeta}
		set.Spec.Replicas, set.Spec.MinReadySeconds = controller.Spec.Replicas, controller.Spec.MinReadySeconds
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: controller.Spec.Selector}
		set.Spec.Template = ptr.Deref(controller.Spec.Template, corev1.PodTemplateSpec{})
		set.Status.Replicas, set.Status.ObservedGeneration = controller.Status.Replicas, controller.Status.ObservedGeneration
	}
	if set.Spec.Selector.Size() > bounded.KeptBytes {
		return nil, fmt.Errorf("the selector of %s %s has %w", kind, set.Name, errLong)
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of %s %s: %w", kind, set.Name, err)
	}
	// The rest of its metadata may be large.
	object := Metadata(kind)
	object.ObjectMeta = metav1.ObjectMeta{
		Namespace: set.Namespace, Name: set.Name, UID: set.UID, ResourceVersion: set.ResourceVersion,
		Generation: set.Generation, DeletionTimestamp: set.DeletionTimestamp, Annotations: only(set.Annotations, Revision),
	}
	if owner := metav1.GetControllerOf(set); owner != nil {
		if owner.Size() > bounded.KeptBytes {
			return nil, fmt.Errorf("the reference of %s %s to its controller has %w", kind, set.Name, errLong)
		}
		object.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	replicas := ptr.Deref(set.Spec.Replicas, 1)
	return &Set{
		Kind: kind, Object: object, Replicas: replicas, MinReadySeconds: set.Spec.MinReadySeconds, Selector: selector,
		IsOver:         set.Status.ObservedGeneration >= set.Generation && set.Status.Replicas <= replicas,
		TemplateLabels: set.Spec.Template.Labels, TemplateAnnotations: only(set.Spec.Template.Annotations, corev1.PodDeletionCost),
	}, nil
}

var errLong = fmt.Errorf("more than %d KiB", bounded.KeptBytes>>10)

// only returns the entries of these keys that are not too long.
func only(all map[string]string, keys ...string) map[string]string {
	var kept map[string]string
	for _, key := range keys {
		if value, ok := all[key]; ok && len(value) <= bounded.KeptBytes {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// String names the set.
func (s *Set) String() string {
	return fmt.Sprintf("%s %s/%s", s.Kind, s.Object.GetNamespace(), s.Object.GetName())
}

// UID is the set's UID.
func (s *Set) UID() types.UID { return s.Object.GetUID() }

// IsOld reports whether the set may lose its pods to a rollout: its Deployment has a newer set, or it has another controller, such as an Argo Rollout, of which
// nothing is known. It reads the Deployment live: its controller notes the newest revision there before it lowers a count.
func (s *Set) IsOld(ctx context.Context, live *bounded.Reader) (bool, error) {
	owner := metav1.GetControllerOfNoCopy(s.Object)
	if owner == nil {
		return false, nil
	}
	if group, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || group.Group != appsv1.GroupName || owner.Kind != "Deployment" {
		return true, nil
	}
	deployment := Metadata("Deployment")
	key := types.NamespacedName{Namespace: s.Object.GetNamespace(), Name: owner.Name}
	if err := live.Get(ctx, key, deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	newest := deployment.Annotations[Revision]
	return deployment.UID == owner.UID && newest != "" && newest != s.Object.GetAnnotations()[Revision], nil
}

// RelatedSets returns the other ReplicaSets of the same controller that have pods, as far as the cache knows: their pods count for
// ranks. The cache has only metadata, so they are read live.
func (s *Set) RelatedSets(ctx context.Context, cache client.Reader, live *bounded.Reader) ([]*Set, error) {
	owner := metav1.GetControllerOfNoCopy(s.Object)
	if s.Kind != ReplicaSet || owner == nil {
		return nil, nil
	}
	all, err := Owned(ctx, cache, "apps/v1", "ReplicaSet", s.Object.GetNamespace(), owner.UID)
	if err != nil {
		return nil, err
	}
	var relatedSets []*Set
	for i := range all {
		if all[i].UID == s.UID() {
			continue
		}
		switch pods, err := Owned(ctx, cache, "v1", "Pod", all[i].Namespace, all[i].UID); {
		case err != nil:
			return nil, err
		case len(pods) == 0:
			continue
		case len(relatedSets) == bounded.RelatedSets:
			return nil, fmt.Errorf("more than %d other ReplicaSets of the same controller have pods", bounded.RelatedSets)
		}
		switch relatedSet, err := Get(ctx, live, ReplicaSet, client.ObjectKeyFromObject(&all[i])); {
		case err == nil:
			relatedSets = append(relatedSets, relatedSet)
		case !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	return relatedSets, nil
}

// ByController is the index of pods and sets by the UID of their controller.
const ByController = "controller"

// Controller is what ByController indexes by.
func Controller(object client.Object) []string {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// Owned returns the metadata of the objects of a kind that have this controller. The objects are the cache's own.
func Owned(ctx context.Context, cache client.Reader, apiVersion, kind, namespace string, controller types.UID) ([]metav1.PartialObjectMetadata, error) {
	list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind + "List"}}
	err := cache.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{ByController: string(controller)},
		client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// Metadata is that of an object, which is all that the cache has of it.
func Metadata(kind Kind) *metav1.PartialObjectMetadata {
	version := "v1"
	if kind == ReplicaSet || kind == "Deployment" {
		version = "apps/v1"
	}
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: string(kind)}}
}
