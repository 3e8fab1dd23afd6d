//go:build controlplane

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// One patch deletes the lowest pod of a StatefulSet and no other: `kubectl podrank drop db-0` prints it.
func TestLowestOrdinal(t *testing.T) {
	w := NewWorld(t, 2)
	web := replicaSet(w.Namespace, "db", 3)
	set := &appsv1.StatefulSet{ObjectMeta: web.ObjectMeta, Spec: appsv1.StatefulSetSpec{
		Replicas: web.Spec.Replicas, Selector: web.Spec.Selector, Template: web.Spec.Template, ServiceName: "db",
	}}
	w.must(w.Create(w.ctx, set))
	w.AwaitReady(3)
	patch := []byte(`{"spec":{"ordinals":{"start":1},"replicas":2}}`)
	w.must(w.Patch(w.ctx, set, client.RawPatch(types.StrategicMergePatchType, patch)))
	w.AwaitDeleted(1)
	// Its controller has nothing more to do.
	time.Sleep(5 * time.Second)
	names := []string{}
	for _, pod := range w.Deleted() {
		names = append(names, pod.Name)
	}
	left := []string{}
	for _, pod := range w.AwaitReady(2) {
		left = append(left, pod.Name)
	}
	slices.Sort(left)
	if got := fmt.Sprint(names, left); got != "[db-0] [db-1 db-2]" {
		t.Errorf("%s", got)
	}
}
