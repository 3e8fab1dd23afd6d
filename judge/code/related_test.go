package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// owners makes references to owners in a namespace, of which at most one is the controller.
func owners(r *rand.Rand, namespace string) (references []metav1.OwnerReference) {
	yes, no := true, false
	if r.IntN(4) == 0 {
		references = append(references, metav1.OwnerReference{UID: types.UID(namespace + "-1"), Controller: pick(r, nil, &no)})
	}
	if r.IntN(6) != 0 {
		uid := types.UID(fmt.Sprintf("%s-%d", namespace, 1+r.IntN(3)))
		references = append(references, metav1.OwnerReference{UID: uid, Controller: &yes})
	}
	return references
}

// labelSelector makes any selector: none, that of all pods, or one of few labels. Some are invalid.
func labelSelector(r *rand.Rand) *metav1.LabelSelector {
	value := func() string { return pick(r, "x", "y", "z") }
	switch r.IntN(16) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	if r.IntN(3) != 0 {
		selector.MatchLabels[pick(r, "app", "track")] = pick(r, value(), value(), value(), value(), value(), value(), value(), "-invalid-")
	}
	for range r.IntN(3) {
		expression := metav1.LabelSelectorRequirement{
			Key: pick(r, "app", "track", "app", "track", "app", "track", "app", "track", "an invalid key"),
			Operator: pick(r, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn,
				metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists,
				metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist, "Near"),
		}
		isIn := expression.Operator == metav1.LabelSelectorOpIn || expression.Operator == metav1.LabelSelectorOpNotIn
		// Values for an operator that takes none, and none for one that needs some, are invalid.
		if isIn != (r.IntN(12) == 0) {
			expression.Values = []string{value(), value()}
		}
		selector.MatchExpressions = append(selector.MatchExpressions, expression)
	}
	return selector
}

// namespaced makes the metadata of an object. Most are in one namespace.
func namespaced(r *rand.Rand, kind string, number int) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: fmt.Sprint(kind, number), Namespace: pick(r, "a", "a", "a", "b")}
	meta.UID = types.UID(meta.Name)
	if r.IntN(8) == 0 {
		meta.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	}
	return meta
}

// someReplicaSets makes ReplicaSets of few owners, with and without replicas.
func someReplicaSets(r *rand.Rand) (sets []*appsv1.ReplicaSet) {
	for i := range 1 + r.IntN(8) {
		replicas := int32(r.IntN(3))
		set := &appsv1.ReplicaSet{ObjectMeta: namespaced(r, "set", i)}
		set.OwnerReferences = owners(r, set.Namespace)
		set.Spec = appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: labelSelector(r)}
		sets = append(sets, set)
	}
	return sets
}

// labelledPods makes pods with the labels that the selectors ask for.
func labelledPods(r *rand.Rand) (pods []*v1.Pod) {
	for i := range r.IntN(16) {
		pod := &v1.Pod{ObjectMeta: namespaced(r, "pod", i), Status: v1.PodStatus{Phase: pick(r, v1.PodRunning, v1.PodFailed)}}
		// Who owns a pod does not matter.
		pod.OwnerReferences, pod.Labels = owners(r, pod.Namespace), map[string]string{}
		for _, key := range []string{"app", "track"} {
			if r.IntN(4) != 0 {
				pod.Labels[key] = pick(r, "x", "y", "z")
			}
		}
		pods = append(pods, pod)
	}
	return pods
}

// The RelatedPods of the Go module are the pods that Kubernetes' own ReplicaSet controller counts for ranks.
func TestRelatedPods(t *testing.T) {
	t.Parallel()
	const rounds = 20_000
	controller, tally := upstream.NewReplicaSetController(), map[string]int{}
	for round := range rounds {
		r := seeded(15, round)
		sets := someReplicaSets(r)
		controller.Replace(sets, labelledPods(r))
		for _, set := range sets {
			if metav1.GetControllerOfNoCopy(set) == nil && round >= 20 {
				continue // upstream reports each of these as an error, at most one in a millisecond
			}
			theirs, err := controller.RelatedPods(set)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := podrank.RelatedPods(set, controller.Sets.ReplicaSets(set.Namespace), controller.Pods.Pods(set.Namespace))
			if err != nil {
				t.Fatal(err)
			}
			// Neither is in an order: the caches are maps.
			if a, b := sortedNames(theirs), sortedNames(ours); !slices.Equal(a, b) {
				t.Fatalf("round %d, %s: upstream counts %v, podrank %v", round, set.Name, a, b)
			}
			switch {
			case metav1.GetControllerOfNoCopy(set) == nil:
				tally["no controller"]++
			case len(ours) == 0:
				tally["no related pods"]++
			default:
				tally["related pods"]++
			}
		}
	}
	if tally["no controller"] < 10 || tally["no related pods"] < rounds/10 || tally["related pods"] < rounds {
		t.Errorf("too few to tell: %v", tally)
	}
}

func sortedNames(pods []*v1.Pod) (names []string) {
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}
