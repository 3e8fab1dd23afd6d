// Package example is a controller of a workload of its own, the Fleet: some pods of one template. It scales down as
// ReplicaSets do, through podrank.
package example

import (
	"context"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// GroupVersion is that of the Fleet.
var GroupVersion = schema.GroupVersion{Group: "example.podrank.dev", Version: "v1"}

// AddToScheme makes a scheme know Fleets.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Fleet{}, &FleetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// A Fleet is a number of pods of one template.
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FleetSpec   `json:"spec"`
	Status            FleetStatus `json:"status,omitempty"`
}

// FleetSpec is what is wanted.
type FleetSpec struct {
	Replicas int                    `json:"replicas"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// FleetStatus is what is there.
type FleetStatus struct {
	Replicas int `json:"replicas"`
}

// FleetList is a list of Fleets.
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}

// DeepCopyObject is for the scheme, as below.
func (f *Fleet) DeepCopyObject() runtime.Object {
	c := *f
	f.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	f.Spec.Template.DeepCopyInto(&c.Spec.Template)
	return &c
}

// DeepCopyObject is for the scheme.
func (l *FleetList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = make([]Fleet, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Fleet)
	}
	return &c
}

// Reconciler brings Fleets to their numbers.
type Reconciler struct {
	client.Client
	// Options are podrank's; the burst is always capped.
	Options []podrank.Option
}

// SetupWithManager watches Fleets and the pods that they own.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Fleet{}).Owns(&corev1.Pod{}).Complete(r)
}

// Reconcile creates or deletes pods of one Fleet. A controller with a cache also waits until it has seen its own last creations
// and deletions, which is left out here.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var fleet Fleet
	if err := r.Get(ctx, request.NamespacedName, &fleet); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if fleet.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	var list corev1.PodList
	if err := r.List(ctx, &list, client.InNamespace(fleet.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	var active []*corev1.Pod
	for i := range list.Items {
		pod := &list.Items[i]
		if metav1.IsControlledBy(pod, &fleet) && pod.DeletionTimestamp == nil &&
			pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			active = append(active, pod)
		}
	}

	diff := len(active) - fleet.Spec.Replicas
	for range min(-diff, podrank.BurstReplicas) {
		if err := r.create(ctx, &fleet); err != nil {
			return ctrl.Result{}, err
		}
	}
	// All pods of the Fleet count towards the crowd on a node, and there are no others to count.
	victims, err := podrank.PodsToDelete(active, active, diff, append(r.Options, podrank.Burst(podrank.BurstReplicas))...)
	if err != nil {
		return ctrl.Result{}, err
	}
	for _, pod := range victims {
		// Not a pod of the same name that came in between.
		err := r.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
		if err != nil && !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
	}

	fleet.Status.Replicas = len(active) - len(victims) + max(0, min(-diff, podrank.BurstReplicas))
	if err := r.Status().Update(ctx, &fleet); err != nil {
		return ctrl.Result{}, err
	}
	// What the burst left over.
	return ctrl.Result{Requeue: fleet.Status.Replicas != fleet.Spec.Replicas}, nil
}

func (r *Reconciler) create(ctx context.Context, fleet *Fleet) error {
	pod := &corev1.Pod{ObjectMeta: *fleet.Spec.Template.ObjectMeta.DeepCopy(), Spec: *fleet.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.GenerateName = fleet.Namespace, fleet.Name+"-"
	if err := ctrl.SetControllerReference(fleet, pod, r.Scheme()); err != nil {
		return err
	}
	return r.Create(ctx, pod)
}
