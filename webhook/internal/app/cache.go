package app

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// cached says what the caches keep: of pods and nodes only metadata, and of everything only what somebody reads.
func cached() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			cost.Metadata():                 {Transform: strip},
			steer.Node():                    {Transform: strip},
			&appsv1.ReplicaSet{}:            {Transform: strip},
			&corev1.ReplicationController{}: {Transform: strip},
		},
	}
}

// strip drops what nobody reads.
func strip(object any) (any, error) {
	switch object := object.(type) {
	case *metav1.PartialObjectMetadata:
		kept := []string{corev1.PodDeletionCost}
		if cost.IsMarked(object) {
			kept = append(kept, cost.Annotation)
		}
		object.Annotations = only(object.Annotations, kept...)
		object.ManagedFields, object.Finalizers, object.GenerateName = nil, nil, ""
		if object.Kind == "Pod" {
			// Pods are read by their controller.
			object.Labels = nil
		}
	case *appsv1.ReplicaSet:
		object.ManagedFields, object.Annotations = nil, only(object.Annotations, workload.Revision)
		object.Spec.Template.Spec = corev1.PodSpec{}
		object.Spec.Template.Annotations = only(object.Spec.Template.Annotations, corev1.PodDeletionCost)
		object.Status.Conditions = nil
	case *corev1.ReplicationController:
		object.ManagedFields, object.Annotations = nil, nil
		if template := object.Spec.Template; template != nil {
			template.Spec = corev1.PodSpec{}
			template.Annotations = only(template.Annotations, corev1.PodDeletionCost)
		}
		object.Status.Conditions = nil
	}
	return object, nil
}

// only returns the entries of these keys.
func only(all map[string]string, keys ...string) map[string]string {
	var kept map[string]string
	for _, key := range keys {
		if value, ok := all[key]; ok {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return maps.Clone(kept)
}
