// Package example is a controller for a custom workload, the Fleet: a number of pods from one template. It uses podrank to decide
// as the ReplicaSet controller does.
package example

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// GroupVersion is the API group and version of the Fleet.
var GroupVersion = schema.GroupVersion{Group: "example.podrank.dev", Version: "v1"}

// AddToScheme adds Fleets to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Fleet{}, &FleetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// A Fleet is a number of pods from one template.
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FleetSpec   `json:"spec"`
	Status            FleetStatus `json:"status,omitempty"`
}

// FleetSpec is the desired state of a Fleet.
type FleetSpec struct {
	Replicas        int                    `json:"replicas"`
	MinReadySeconds int32                  `json:"minReadySeconds,omitempty"`
	Template        corev1.PodTemplateSpec `json:"template"`
}

// FleetStatus is the observed state of a Fleet.
type FleetStatus struct {
	Replicas          int `json:"replicas"`
	ReadyReplicas     int `json:"readyReplicas"`
	AvailableReplicas int `json:"availableReplicas"`
}

// FleetList is a list of Fleets.
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}

// ownerIndex lists pods by the UID of their controller: a list of all pods of a namespace would be made for each Fleet.
const ownerIndex = "controller"

// inFlight is the maximum number of concurrent requests of one Fleet.
const inFlight = 16

// Reconciler brings Fleets to their numbers.
type Reconciler struct {
	client.Client
	// Options are the options for podrank.
	Options []podrank.Option
	// The *expectations of each Fleet, by its types.NamespacedName.
	expectations sync.Map
}

// expectations belong to one Fleet. A later Fleet with the same name starts without any.
type expectations struct {
	podrank.Expectations
	fleet types.UID
}

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// SetupWithManager watches Fleets and their pods.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, ownerIndex, owners); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).For(&Fleet{}).Watches(&corev1.Pod{}, r.podEvents()).Complete(r)
}

// owners are the keys of a pod in the index.
func owners(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// podEvents first tells the expectations of a pod's Fleet what was seen, and then has it reconciled.
func (r *Reconciler) podEvents() handler.Funcs {
	seen := func(object client.Object, isNew, isGone bool, q queue) {
		pod, owner := object.(*corev1.Pod), metav1.GetControllerOf(object)
		if owner == nil || owner.Kind != "Fleet" || owner.APIVersion != GroupVersion.String() {
			return
		}
		name := types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}
		if value, ok := r.expectations.Load(name); ok && value.(*expectations).fleet == owner.UID {
			if isGone || pod.DeletionTimestamp != nil {
				value.(*expectations).DeletionObserved(pod)
			} else if isNew {
				value.(*expectations).CreationsObserved(1)
			}
		}
		q.Add(ctrl.Request{NamespacedName: name})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { seen(e.Object, true, false, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			// Its owner may have changed: the old one has a pod less.
			seen(e.ObjectOld, false, false, q)
			seen(e.ObjectNew, false, false, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { seen(e.Object, false, true, q) },
	}
}

// Reconcile creates or deletes pods of one Fleet, and reports its status.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var fleet Fleet
	if err := r.Get(ctx, request.NamespacedName, &fleet); err != nil {
		if apierrors.IsNotFound(err) {
			r.expectations.Delete(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	value, _ := r.expectations.Load(request.NamespacedName)
	expected, ok := value.(*expectations)
	if !ok || expected.fleet != fleet.UID {
		expected = &expectations{fleet: fleet.UID}
		r.expectations.Store(request.NamespacedName, expected)
	}
	// Before listing: an older list could lack changes that have been observed.
	satisfied := expected.Satisfied()
	var list corev1.PodList
	err := r.List(ctx, &list, client.InNamespace(fleet.Namespace), client.MatchingFields{ownerIndex: string(fleet.UID)})
	if err != nil {
		return ctrl.Result{}, err
	}
	active := slices.DeleteFunc(podrank.Pointers(list.Items), func(pod *corev1.Pod) bool { return !podrank.IsActive(pod) })

	creations, deletions, err := podrank.Plan(podrank.State{
		Desired: fleet.Spec.Replicas, Active: len(active), BeingDeleted: fleet.DeletionTimestamp != nil,
	}, satisfied)
	if creations > 0 {
		err = r.create(ctx, &fleet, expected, creations)
	} else if deletions > 0 {
		err = r.delete(ctx, active, expected, deletions)
	}

	ready, available, nextCheckAfter, errStatus := podrank.Availability(active, fleet.Spec.MinReadySeconds, time.Now())
	if status := (FleetStatus{len(active), ready, available}); errStatus == nil && status != fleet.Status {
		fleet.Status = status
		errStatus = r.Status().Update(ctx, &fleet)
	}
	if err := errors.Join(err, errStatus); err != nil {
		return ctrl.Result{}, err
	}
	if !expected.Satisfied() && (nextCheckAfter == 0 || nextCheckAfter > podrank.ExpectationsTimeout) {
		nextCheckAfter = podrank.ExpectationsTimeout // An event can be lost.
	}
	return ctrl.Result{RequeueAfter: nextCheckAfter}, nil
}

// create sets the expectations before it sends requests, because an event may arrive before the response.
func (r *Reconciler) create(ctx context.Context, fleet *Fleet, expected *expectations, count int) error {
	expected.ExpectCreations(count)
	requests := make(chan struct{}, inFlight)
	created, err := podrank.CreateInBatches(ctx, count, func(ctx context.Context) error {
		requests <- struct{}{}
		defer func() { <-requests }()
		pod := &corev1.Pod{ObjectMeta: *fleet.Spec.Template.ObjectMeta.DeepCopy(), Spec: *fleet.Spec.Template.Spec.DeepCopy()}
		pod.Namespace, pod.GenerateName = fleet.Namespace, fleet.Name+"-"
		if err := ctrl.SetControllerReference(fleet, pod, r.Scheme()); err != nil {
			return err
		}
		if err := r.Create(ctx, pod); !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return err
		}
		return nil // The Fleet is deleted soon, too.
	})
	expected.CreationsObserved(count - created) // Nobody will observe pods that were not created.
	return err
}

// delete sets the expectations before it sends requests. All pods of the Fleet count in the ranks, and no others do.
func (r *Reconciler) delete(ctx context.Context, active []*corev1.Pod, expected *expectations, count int) error {
	victims, err := podrank.PodsToDelete(active, active, count, r.Options...)
	if err != nil {
		return err
	}
	if err = expected.ExpectDeletions(victims); err != nil {
		return err
	}
	var group sync.WaitGroup
	requests, failures := make(chan struct{}, inFlight), make([]error, len(victims))
	for i, pod := range victims {
		requests <- struct{}{}
		group.Add(1)
		go func() {
			defer func() { <-requests; group.Done() }()
			// Not a pod of the same name that came in between.
			failure := r.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
			if failure == nil {
				return
			}
			expected.DeletionObserved(pod)
			// Not found, or another by now: this pod is gone.
			if !apierrors.IsNotFound(failure) && !apierrors.IsConflict(failure) {
				failures[i] = failure
			}
		}()
	}
	group.Wait()
	return errors.Join(failures...)
}
