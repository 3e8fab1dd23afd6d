package app

import (
	"maps"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// cached says what the caches keep: of pods, sets and nodes only metadata, and of everything only what somebody reads.
func cached() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			cost.Metadata():                        {Transform: strip},
			steer.Node():                           {Transform: strip},
			workload.Metadata(workload.ReplicaSet): {Transform: strip},
			workload.Metadata(workload.ReplicationController): {Transform: strip},
		},
	}
}

// strip drops what nobody reads, and has what is often the same only once.
func strip(object any) (any, error) {
	metadata, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	var kept []string
	if metadata.Kind == "Pod" {
		kept = append(kept, corev1.PodDeletionCost)
		if _, ok := cost.MarkOf(metadata); ok {
			kept = append(kept, cost.Annotation)
		}
	}
	metadata.Annotations = only(metadata.Annotations, kept...)
	metadata.ManagedFields, metadata.Finalizers, metadata.GenerateName = nil, nil, ""
	if metadata.Kind != "Node" {
		// Only the labels of nodes are read.
		metadata.Labels = nil
	}
	metadata.Namespace = once(metadata.Namespace)
	for i := range metadata.OwnerReferences {
		owner := &metadata.OwnerReferences[i]
		owner.APIVersion, owner.Kind, owner.Name, owner.UID = once(owner.APIVersion), once(owner.Kind), once(owner.Name), types.UID(once(string(owner.UID)))
		owner.Controller, owner.BlockOwnerDeletion = same(owner.Controller), nil
	}
	metadata.OwnerReferences = slices.Clip(metadata.OwnerReferences)
	return object, nil
}

// once returns a text that shares its memory with equal ones.
func once(text string) string { return unique.Make(text).Value() }

var yes, no = true, false

func same(value *bool) *bool {
	switch {
	case value == nil:
		return nil
	case *value:
		return &yes
	}
	return &no
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
