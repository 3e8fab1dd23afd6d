//go:build controlplane

package e2e

import (
	"encoding/json"
	"flag"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

var record = flag.String("record", "", "record scale-downs to this directory")

// TestRecord records what other tests replay without a control plane.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("only if asked to, with -record DIR")
	}
	spread := v1alpha1.ScaleDownPolicySpec{Spread: []string{corev1.LabelTopologyZone, corev1.LabelHostname}}
	draining := v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{
		{Type: v1alpha1.PreferencePods, Pods: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"draining": "true"}}}, SpotFirst.DeleteFirst[0],
	}}
	both := *SpotFirst.DeepCopy()
	both.Spread = []string{corev1.LabelTopologyZone}
	kubectl := func(kind string) func(*World, client.Object) {
		return func(w *World, _ client.Object) {
			w.must(w.Kubectl("scale", kind+"/web", "--replicas=5"))
		}
	}
	direct := func(w *World, object client.Object) { w.must(w.Scale(object, 5)) }
	patch := func(w *World, object client.Object) {
		w.must(w.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))))
	}
	for _, c := range []struct {
		name   string
		policy v1alpha1.ScaleDownPolicySpec
		make   func(string, int32) client.Object
		// before happens to the pods.
		before   func(*World)
		scale    func(*World, client.Object)
		result   string
		toDelete int
	}{
		{"deployment-spot", SpotFirst, webDeployment, nil, kubectl("deployment"), "Steered", 3},
		{"deployment-spread", spread, webDeployment, nil, direct, "Steered", 3},
		{"replicaset-scale-spot-spread", both, webSet, nil, direct, "Steered", 3},
		{"replicaset-update-draining", draining, webSet, label, patch, "Steered", 3},
		{"replicationcontroller-scale-spot", SpotFirst, webController, nil, kubectl("rc"), "Steered", 3},
		{"replicationcontroller-update-spread", spread, webController, nil, patch, "Steered", 3},
		{"unsteerable", SpotFirst, webSet, func(w *World) { w.Unready() }, direct, "Steered", 3},
		{"costs-of-others", SpotFirst, webSet, costs("-3"), direct, "Steered", 3},
		{"no-room", SpotFirst, webSet, costs("-2147483648"), direct, "NoRoom", 3},
		{"dry-run", SpotFirst, webSet, nil, func(w *World, object client.Object) { w.must(w.Scale(object, 5, client.DryRunAll)) }, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, object := NewWorldOf(t, 4, c.policy, c.make, 8)
			if c.before != nil {
				c.before(w)
				time.Sleep(500 * time.Millisecond)
			}
			found := &fakeapi.Case{Name: c.name, Result: c.result, Objects: w.dump(), Costs: map[string]string{}}
			c.scale(w, object)
			w.AwaitDeleted(c.toDelete)
			w.Await("asked", 5*time.Second, func() bool { return len(w.Proxy.Calls(w.Namespace)) > 0 })
			call := w.Proxy.Calls(w.Namespace)[0]
			found.Now, found.Review = call.At.UTC(), call.Raw
			for _, pod := range w.Deleted() {
				found.Deleted = append(found.Deleted, pod.UID)
				if value, ok := pod.Annotations[corev1.PodDeletionCost]; ok && c.result == "Steered" {
					found.Costs[pod.Name] = value
				}
			}
			slices.Sort(found.Deleted)
			w.must(found.Write(*record))
		})
	}
}

func label(w *World) {
	for _, pod := range w.Pods()[:2] {
		w.must(w.Kubectl("label", "pod", pod.Name, "draining=true"))
	}
}

// Unready makes one pod that is not on a spot node not ready.
func (w *World) Unready() *corev1.Pod {
	w.Helper()
	pods := w.Pods()
	pod := pods[slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return !w.IsSpot(pod) })]
	status := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
	w.must(w.Client.Status().Patch(w.ctx, pod, client.RawPatch(types.StrategicMergePatchType, status)))
	return pod
}

// costs writes somebody's cost on the pods that are not on spot nodes.
func costs(value string) func(*World) {
	return func(w *World) {
		for _, pod := range w.Pods() {
			if !w.IsSpot(pod) {
				w.must(w.Kubectl("annotate", "pod", pod.Name, corev1.PodDeletionCost+"="+value))
			}
		}
	}
}

// dump returns all that a decision may read.
func (w *World) dump() (texts []json.RawMessage) {
	in := client.InNamespace(w.Namespace)
	for _, list := range []client.ObjectList{
		&v1alpha1.ScaleDownPolicyList{}, &appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.ReplicationControllerList{},
		&corev1.PodList{},
	} {
		w.must(w.List(w.ctx, list, in))
		w.must(meta.EachListItem(list, func(object runtime.Object) error { return w.text(object, &texts) }))
	}
	for _, node := range w.Nodes {
		w.must(w.text(node.DeepCopy(), &texts))
	}
	return texts
}

func (w *World) text(object runtime.Object, texts *[]json.RawMessage) error {
	kind, err := apiutil.GVKForObject(object, w.Scheme())
	if err != nil {
		return err
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(object)
	*texts = append(*texts, text)
	return err
}
