package example

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// cluster is one with a Fleet "web" and what else is given.
func cluster(t *testing.T, replicas int, objects ...client.Object) (*Reconciler, *Fleet) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	fleet := &Fleet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "f1"}, Spec: FleetSpec{Replicas: replicas}}
	fleet.Spec.Template.Labels = map[string]string{"app": "web"}
	for _, object := range objects {
		if object.GetLabels()["app"] == "web" {
			if err := ctrl.SetControllerReference(fleet, object, scheme); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(fleet).WithObjects(append(objects, fleet)...).Build()
	return &Reconciler{Client: c, Options: []podrank.Option{podrank.Now(now)}}, fleet
}

// pod is a running pod of the Fleet, ready for an hour.
func pod(name string, number int, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", number)),
		Labels: map[string]string{"app": "web"},
	}}
	p.Spec.NodeName, p.Status.Phase = name, corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	}}
	change(p)
	return p
}

// reconcile runs the controller until it is content and returns the names of the pods.
func reconcile(t *testing.T, r *Reconciler) (names []string) {
	t.Helper()
	for range 10 {
		result, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}})
		if err != nil {
			t.Fatal(err)
		}
		if result == (ctrl.Result{}) {
			break
		}
	}
	var list corev1.PodList
	if err := r.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

func TestScaleDown(t *testing.T) {
	r, fleet := cluster(t, 2,
		pod("cheap", 1, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "-5"} }),
		pod("steady", 2, func(*corev1.Pod) {}),
		pod("restarted", 3, func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 4}} }),
		pod("pending", 4, func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending }),
		pod("dear", 5, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "5"} }),
		pod("finished", 6, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		pod("stranger", 7, func(p *corev1.Pod) { p.Labels = nil }),
	)
	if got, want := reconcile(t, r), []string{"dear", "finished", "steady", "stranger"}; !slices.Equal(got, want) {
		t.Errorf("%v stay, want %v", got, want)
	}
	if err := r.Get(context.Background(), client.ObjectKeyFromObject(fleet), fleet); err != nil || fleet.Status.Replicas != 2 {
		t.Errorf("%v, status %+v", err, fleet.Status)
	}
}

func TestScaleUpAndAway(t *testing.T) {
	r, fleet := cluster(t, 3)
	if got := reconcile(t, r); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if err := r.Get(context.Background(), client.ObjectKeyFromObject(fleet), fleet); err != nil {
		t.Fatal(err)
	}
	fleet.Spec.Replicas = 0
	if err := r.Update(context.Background(), fleet); err != nil {
		t.Fatal(err)
	}
	if got := reconcile(t, r); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestAPodThatCannotBeJudgedStopsAll(t *testing.T) {
	r, _ := cluster(t, 0, pod("sound", 1, func(*corev1.Pod) {}), pod("odd", 2, func(p *corev1.Pod) { p.UID = "odd" }))
	_, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}})
	if err == nil {
		t.Error("no error")
	}
	var list corev1.PodList
	if err := r.List(context.Background(), &list); err != nil || len(list.Items) != 2 {
		t.Errorf("%v, %d pods", err, len(list.Items))
	}
}
