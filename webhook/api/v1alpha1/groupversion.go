// Package v1alpha1 has the types of the API group podrank.dev, of which there is one: ScaleDownPolicy.
//
// +kubebuilder:object:generate=true
// +groupName=podrank.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of these types.
var GroupVersion = schema.GroupVersion{Group: "podrank.dev", Version: "v1alpha1"}

// AddToScheme registers these types.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ScaleDownPolicy{}, &ScaleDownPolicyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
