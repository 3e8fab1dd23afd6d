package upstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// As in linked.go.

// ParentAndOrdinal returns what a pod's name says: the name of its StatefulSet and its ordinal, -1 if it has none.
//
//go:linkname ParentAndOrdinal k8s.io/kubernetes/pkg/controller/statefulset.getParentNameAndOrdinal
func ParentAndOrdinal(pod *v1.Pod) (parent string, ordinal int)

// SetStatefulSetGates sets the feature gates of StatefulSets for the whole process.
func SetStatefulSetGates(maxUnavailable, recreate bool) error {
	return utilfeature.DefaultMutableFeatureGate.Set(
		fmt.Sprintf("MaxUnavailableStatefulSet=%t,StatefulSetRecreateStrategy=%t", maxUnavailable, recreate))
}

// The revisions of every StatefulSet here. OldRevision exists, and NewRevision is made by the sync, so it is the update
// revision.
const (
	OldRevision = "web-old"
	NewRevision = "web-new"
)

// A StatefulSetController is Kubernetes' own control of StatefulSets, on objects in memory. Only one goroutine may use
// it at a time.
type StatefulSetController struct {
	control statefulset.StatefulSetControlInterface
	objects *statefulObjects
}

// NewStatefulSetController makes one.
func NewStatefulSetController() *StatefulSetController {
	objects := &statefulObjects{deleted: map[string]bool{}}
	pods := statefulset.NewStatefulPodControlFromManager(objects, &record.FakeRecorder{})
	return &StatefulSetController{
		control: statefulset.NewDefaultStatefulSetControl(pods, noStatus{}, revisions{}), objects: objects,
	}
}

// Sync runs one sync, and returns the names of the pods that it deletes. pods are those whose names begin as members' do.
func (c *StatefulSetController) Sync(set *appsv1.StatefulSet, pods []*v1.Pod, now time.Time) ([]string, error) {
	clear(c.objects.deleted)
	_, err := c.control.UpdateStatefulSet(context.Background(), set, pods, now)
	return slices.Sorted(maps.Keys(c.objects.deleted)), err
}

// ClaimOwners runs what a sync does with the claims of a pod that has a claim for each template of the set, and returns the
// owners that one of them, which had these, has afterwards.
func (c *StatefulSetController) ClaimOwners(set *appsv1.StatefulSet, pod *v1.Pod, owners []metav1.OwnerReference) ([]metav1.OwnerReference, error) {
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", OwnerReferences: owners}}
	objects := &statefulObjects{claim: claim}
	control := statefulset.NewStatefulPodControlFromManager(objects, &record.FakeRecorder{})
	ctx := context.Background()
	if matches, err := control.ClaimsMatchRetentionPolicy(ctx, set, pod); err != nil || matches {
		return claim.OwnerReferences, err
	}
	err := control.UpdatePodClaimForRetentionPolicy(ctx, set, pod)
	return objects.claim.OwnerReferences, err
}

// statefulObjects records the deletions, which can come from several goroutines. Everything else succeeds.
type statefulObjects struct {
	mutex   sync.Mutex
	deleted map[string]bool
	claim   *v1.PersistentVolumeClaim
}

func (o *statefulObjects) CreatePod(context.Context, *v1.Pod, *appsv1.StatefulSet) error { return nil }
func (o *statefulObjects) UpdatePod(*v1.Pod, *appsv1.StatefulSet) error                  { return nil }
func (o *statefulObjects) CreateClaim(*v1.PersistentVolumeClaim, *appsv1.StatefulSet) error {
	return nil
}

func (o *statefulObjects) GetPod(_, name string) (*v1.Pod, error) {
	return nil, errors.NewNotFound(v1.Resource("pods"), name)
}

func (o *statefulObjects) DeletePod(pod *v1.Pod) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.deleted[pod.Name] = true
	return nil
}

func (o *statefulObjects) GetClaim(_, name string) (*v1.PersistentVolumeClaim, error) {
	if o.claim == nil {
		return nil, errors.NewNotFound(v1.Resource("persistentvolumeclaims"), name)
	}
	return o.claim, nil
}

func (o *statefulObjects) UpdateClaim(claim *v1.PersistentVolumeClaim, _ *appsv1.StatefulSet) error {
	o.claim = claim
	return nil
}

type noStatus struct{}

func (noStatus) UpdateStatefulSetStatus(context.Context, *appsv1.StatefulSet, *appsv1.StatefulSetStatus) error {
	return nil
}

// revisions has the old one, and takes the new one.
type revisions struct{ history.Interface }

var oldRevision = appsv1.ControllerRevision{
	ObjectMeta: metav1.ObjectMeta{Name: OldRevision, ResourceVersion: "1"},
	Data: runtime.RawExtension{Raw: []byte(
		`{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"hostname":"old"}}}}`)},
	Revision: 1,
}

func (revisions) ListControllerRevisions(metav1.Object, schema.GroupVersionKind, labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return []*appsv1.ControllerRevision{&oldRevision}, nil
}

func (revisions) CreateControllerRevision(_ metav1.Object, revision *appsv1.ControllerRevision, _ *int32) (*appsv1.ControllerRevision, error) {
	revision.Name = NewRevision
	return revision, nil
}

func (revisions) UpdateControllerRevision(revision *appsv1.ControllerRevision, _ int64) (*appsv1.ControllerRevision, error) {
	return revision, nil
}
