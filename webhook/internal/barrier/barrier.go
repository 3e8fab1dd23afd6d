// Package barrier keeps a new replica count waiting for costs: it shows that kube-controller-manager has observed all that
// was written to pods before.
//
// All pods of a cluster reach kube-controller-manager over one watch, in the order of their resource versions, and its controllers share
// one store of them. So a ReplicationController of 0 replicas that adopts a new pod, the barrier pod, shows that the ReplicaSet
// controller reads all earlier changes, too. A scheduling gate keeps the barrier pod from running, and its controller deletes it
// immediately.
//
// It is a ReplicationController because its controller has a client and a queue of its own, which little else uses in most clusters. Each
// barrier pod costs up to six of the 20 requests that a controller may send in a second (set, adoption, event, deletion, status twice), and the ReplicaSet controller needs its
// requests for scale-downs and rollouts.
//
// Before Kubernetes 1.36, kube-controller-manager applies a list of all pods object by object, so after a relist it can observe a
// barrier pod before the pods of namespaces that are listed later. A second barrier pod, created after the first was adopted, comes
// after all objects of that list. And the pods that one leader of kube-controller-manager has observed say nothing about the next
// leader, so the Lease of kube-controller-manager has to have the same leader before and after.
//
// The set is part of the manifests, and its template is that of the barrier pods. Package barrier creates and deletes pods in the
// set's namespace, reads that Lease, and does nothing else.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;delete,namespace=podrank-system
// +kubebuilder:rbac:groups="",resources=replicationcontrollers,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=kube-controller-manager,verbs=get,namespace=kube-system
package barrier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// longest is how long a barrier pod may take, even if nobody waits for it any longer.
const longest = 10 * time.Second

// ErrLost is the error if a barrier pod was not seen to be adopted before it was deleted, which proves nothing.
var ErrLost = errors.New("the barrier pod was deleted by somebody else, or nobody could watch it")

// ErrLeader is the error if kube-controller-manager may have another leader since the barrier pods were created.
var ErrLeader = errors.New("kube-controller-manager may have got another leader")

// atomicLists is the first release whose kube-controller-manager, which may be one minor release older than the API server, applies a
// list as a whole.
var atomicLists = version.MajorMinor(1, 37)

// A Barrier lets callers through once a barrier pod was adopted.
type Barrier struct {
	client kubernetes.Interface
	set    types.NamespacedName
	// observe gets how long each barrier pod took.
	observe func(took time.Duration, err error)
	// pods is how many barrier pods are proof, one after the other.
	pods int

	// next is the proof that has yet to begin, for which several callers may wait, and slots are for those that have
	// begun.
	next  singleflight.Group
	slots chan struct{}
}

// New returns a barrier with barrier pods of this set, which tells how long each took. If the release of the API server isn't known now, two barrier
// pods are proof until podrank-webhook is restarted.
func New(to kubernetes.Interface, set types.NamespacedName, observe func(time.Duration, error)) *Barrier {
	b := &Barrier{client: to, set: set, observe: observe, pods: 2, slots: make(chan struct{}, bounded.BarrierPods)}
	if info, err := to.Discovery().ServerVersion(); err == nil {
		if release, err := version.ParseGeneric(info.GitVersion); err == nil && release.AtLeast(atomicLists) {
			b.pods = 1
		}
	}
	return b
}

// Wait returns once kube-controller-manager has observed all that was written to pods before the call.
func (b *Barrier) Wait(ctx context.Context) error {
	select {
	case proof := <-b.next.DoChan("", b.begin):
		return proof.Err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the barrier pod: %w", ctx.Err())
	}
}

// begin begins a proof in its turn. Until then, callers share it, since it begins after they came.
func (b *Barrier) begin() (any, error) {
	b.slots <- struct{}{}
	defer func() { <-b.slots }()
	b.next.Forget("")
	began := time.Now()
	err := b.prove()
	if errors.Is(err, ErrLost) {
		err = b.prove()
	}
	b.observe(time.Since(began), err)
	return nil, err
}

// prove sends as many barrier pods as the release needs, one after the other, under one leader.
func (b *Barrier) prove() error {
	before, err := b.leader()
	if err != nil {
		return err
	}
	for range b.pods {
		if err := b.send(); err != nil {
			return err
		}
	}
	after, err := b.leader()
	if err == nil && after != before {
		err = fmt.Errorf("%w: it was %s, and is %s", ErrLeader, before, after)
	}
	return err
}

// leader identifies the leader of kube-controller-manager and its term. It has no name if there is no election, because
// there is only one instance.
func (b *Barrier) leader() (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), longest)
	defer stop()
	lease, err := b.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-controller-manager", metav1.GetOptions{})
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("%w: %w", ErrLeader, err)
	}
	holder, transitions := ptr.Deref(lease.Spec.HolderIdentity, ""), ptr.Deref(lease.Spec.LeaseTransitions, 0)
	return fmt.Sprintf("%q after %d transitions", holder, transitions), nil
}

// send creates a barrier pod and waits until it is adopted. The context of one caller does not end it, because other
// callers may wait, too.
func (b *Barrier) send() error {
	ctx, stop := context.WithTimeout(context.Background(), longest)
	defer stop()
	set, err := b.client.CoreV1().ReplicationControllers(b.set.Namespace).Get(ctx, b.set.Name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("the ReplicationController %s of the barrier pods: %w", b.set, err)
	}
	pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Name = set.Name + "-" + rand.String(10)
	pods := b.client.CoreV1().Pods(b.set.Namespace)
	// It begins before the pod is created, and so misses nothing.
	watching, err := pods.Watch(ctx, metav1.SingleObject(pod.ObjectMeta))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	defer watching.Stop()
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the barrier pod: %w", err)
	}
	for event := range watching.ResultChan() {
		switch seen, ok := event.Object.(*corev1.Pod); {
		case !ok || seen.Name != pod.Name:
		case metav1.IsControlledBy(seen, set):
			return nil
		case event.Type == watch.Deleted:
			return ErrLost
		}
	}
	if ctx.Err() == nil {
		return ErrLost
	}
	// If that fails, its set will delete it when it adopts it.
	ctx, stop = context.WithTimeout(context.Background(), longest)
	defer stop()
	_ = pods.Delete(ctx, pod.Name, metav1.DeleteOptions{})
	return fmt.Errorf("the ReplicationController %s did not adopt a pod in %v: does kube-controller-manager run, with its replicationcontroller-controller?", b.set, longest)
}
