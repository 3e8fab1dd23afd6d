package workload_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/workload"
)

var large = strings.Repeat("x", 100_000)

// stripped is what the cache has of a pod, and how many bytes.
func stripped(t *testing.T, change func(*corev1.Pod)) (*metav1.PartialObjectMetadata, int) {
	t.Helper()
	_, _, pods := fakeapi.Shop(1)
	pod := pods[0]
	change(pod)
	kept := workload.Strip(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: pod.ObjectMeta})
	return kept, kept.Size()
}

// Whatever somebody gives a pod, the cache has little of it.
func TestStrip(t *testing.T) {
	steered := cost.Steered{Set: fakeapi.UID(1, 0), Count: 3, Request: fakeapi.UID(5, 0), Selected: true}.String()
	for what, change := range map[string]func(*corev1.Pod){
		"nothing": func(*corev1.Pod) {},
		"labels and annotations": func(pod *corev1.Pod) {
			pod.Labels, pod.Annotations = map[string]string{"a": large}, map[string]string{"a": large}
		},
		"somebody's annotation": func(pod *corev1.Pod) { pod.Annotations = map[string]string{cost.Annotation: large} },
		"a forged annotation": func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{cost.Annotation: strings.Replace(steered, "/3/", "/"+strings.Repeat("0", 100_000)+"3/", 1)}
			fakeapi.Manage(pod, cost.Manager, cost.Annotation)
		},
		"managers":   func(pod *corev1.Pod) { fakeapi.Manage(pod, large, cost.Annotation) },
		"finalizers": func(pod *corev1.Pod) { pod.Finalizers = []string{large} },
		"owners": func(pod *corev1.Pod) {
			for range 10_000 {
				pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "a", Name: "b", UID: "c"})
			}
		},
		"an API version": func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = large },
	} {
		kept, size := stripped(t, change)
		if owner := metav1.GetControllerOf(kept); size > 500 || owner == nil || owner.UID != fakeapi.UID(1, 0) || owner.Name != "web" || owner.Kind != "ReplicaSet" ||
			kept.Annotations[cost.Annotation] != "" {
			t.Errorf("%s: %d bytes: %.500v", what, size, kept)
		}
	}
	for what, change := range map[string]func(*metav1.OwnerReference){
		"kind": func(owner *metav1.OwnerReference) { owner.Kind = large },
		"name": func(owner *metav1.OwnerReference) { owner.Name = large },
		"UID":  func(owner *metav1.OwnerReference) { owner.UID = types.UID(large) },
	} {
		if kept, size := stripped(t, func(pod *corev1.Pod) { change(&pod.OwnerReferences[0]) }); size > 500 || metav1.GetControllerOf(kept) != nil {
			t.Errorf("an owner with a long %s: %d bytes", what, size)
		}
	}
	kept, _ := stripped(t, func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{cost.Annotation: steered, corev1.PodDeletionCost: "-1"}
		fakeapi.Manage(pod, cost.Manager, cost.Annotation, corev1.PodDeletionCost)
	})
	if kept.Annotations[cost.Annotation] != steered || kept.Annotations[corev1.PodDeletionCost] != "-1" || kept.UID == "" || kept.Name != "web-0" {
		t.Errorf("%+v", kept)
	}
	if got := workload.Controller(kept); len(got) != 1 || got[0] != string(fakeapi.UID(1, 0)) {
		t.Errorf("the index has %v", got)
	}
}

// Of a node, the cache has what policies select by.
func TestStripNode(t *testing.T) {
	node := &corev1.Node{}
	node.Name, node.Labels, node.Annotations = "a", map[string]string{"lifecycle": "spot"}, map[string]string{"a": large}
	node.Spec = corev1.NodeSpec{Unschedulable: true, PodCIDR: large, Taints: []corev1.Taint{{Key: "going", Value: "soon", Effect: "NoSchedule"}}}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{large}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "False", Message: large}}
	kept := workload.StripNode(node)
	want := &corev1.Node{}
	want.Name, want.Labels = "a", node.Labels
	want.Spec = corev1.NodeSpec{Unschedulable: true, Taints: node.Spec.Taints}
	want.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "False"}}
	if !equality.Semantic.DeepEqual(kept, want) {
		t.Errorf("%+v", kept)
	}
}

// Of a policy, the cache has that it is there, and whether it needs the pods of the cluster.
func TestStripPolicy(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	policy.Labels, policy.Annotations = map[string]string{"a": large}, map[string]string{"a": large}
	policy.Spec.DeleteFirst[0].Nodes.MatchLabels = map[string]string{"a": large}
	policy.Status.Workloads = []v1alpha1.WorkloadStatus{{Name: large}}
	policy.Spec.EmptyNodes, policy.Generation, policy.ResourceVersion = v1alpha1.EmptyNodesPrefer, 7, "8"
	kept := workload.StripPolicy(policy)
	want := v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{EmptyNodes: v1alpha1.EmptyNodesPrefer}}
	want.Namespace, want.Name, want.UID, want.Generation, want.ResourceVersion = "shop", "spot", policy.UID, 7, "8"
	if !equality.Semantic.DeepEqual(kept, &want) {
		t.Errorf("%+v", kept)
	}
}

// Of namespaces, the cache has those where the API server asks about scale-downs.
func TestNamespaces(t *testing.T) {
	for object, cached := range workload.Cached().ByObject {
		if object.GetObjectKind().GroupVersionKind().Kind != "Namespace" {
			continue
		}
		if !cached.Label.Matches(labels.Set{v1alpha1.SteeringLabel: v1alpha1.SteeringEnabled}) || cached.Label.Matches(labels.Set{v1alpha1.SteeringLabel: ""}) {
			t.Errorf("the cache has namespaces with %s", cached.Label)
		}
		return
	}
	t.Error("the cache has no namespaces")
}

// A server that can't stream lists is asked for pages, whatever the informer's reflector asks for.
func TestListsInPages(t *testing.T) {
	var asked []metav1.ListOptions
	steered := cost.Steered{Set: fakeapi.UID(1, 0), Count: 3, Request: fakeapi.UID(5, 0), Selected: true}.String()
	from := &toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			asked = append(asked, options)
			name, next := "a", "more"
			if options.Continue == next {
				name, next = "b", ""
			}
			list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: next}}
			list.Items = []metav1.PartialObjectMetadata{{TypeMeta: workload.Metadata("Pod").TypeMeta, ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, GenerateName: "x", Annotations: map[string]string{corev1.PodDeletionCost: "-7", "a": "b"},
			}}}
			if pod := &list.Items[0]; name == "b" {
				whole := &corev1.Pod{ObjectMeta: pod.ObjectMeta}
				whole.Annotations[cost.Annotation] = steered
				fakeapi.Manage(whole, cost.Manager, cost.Annotation)
				pod.ObjectMeta = whole.ObjectMeta
			}
			return list, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				return nil, errors.New("this server can't stream lists")
			}
			return watch.NewFake(), nil
		},
	}
	cached := workload.Cached()
	informer := cached.NewInformer(from, workload.Metadata("Pod"), 0, toolscache.Indexers{})
	for object, of := range cached.ByObject {
		if object.GetObjectKind().GroupVersionKind().Kind == "Pod" {
			if err := informer.SetTransform(of.Transform); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go informer.RunWithContext(ctx)
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("not listed")
	}
	keys := informer.GetStore().ListKeys()
	slices.Sort(keys)
	if !slices.Equal(keys, []string{"shop/a", "shop/b"}) || informer.LastSyncResourceVersion() != "7" {
		t.Errorf("listed %q at %s", keys, informer.LastSyncResourceVersion())
	}
	for _, options := range asked {
		if options.Limit == 0 || options.ResourceVersion != "" {
			t.Errorf("asked for everything: %+v", options)
		}
	}
	for _, object := range informer.GetStore().List() {
		pod := object.(*metav1.PartialObjectMetadata)
		kept := map[string]string{corev1.PodDeletionCost: "-7"}
		if pod.Name == "b" {
			kept[cost.Annotation] = steered
		}
		if pod.GenerateName != "" || pod.ManagedFields != nil || !maps.Equal(pod.Annotations, kept) {
			t.Errorf("%s is not what the cache keeps: %+v", pod.Name, pod.ObjectMeta)
		}
	}
}
