package upstream

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// A ReplicaSetController is Kubernetes' own, on objects in memory. Only one goroutine may use it at a time.
type ReplicaSetController struct {
	// Sets and Pods list the objects that the controller sees.
	Sets appslisters.ReplicaSetLister
	Pods corelisters.PodLister

	controller     *replicaset.ReplicaSetController
	setsIn, podsIn cache.Indexer
}

// NewReplicaSetController makes one that sees nothing yet.
func NewReplicaSetController() *ReplicaSetController {
	api := &fake.Clientset{}
	// Never started: the stores hold what Replace puts there.
	factory := informers.NewSharedInformerFactory(api, 0)
	sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
	return &ReplicaSetController{
		Sets: sets.Lister(), Pods: pods.Lister(),
		controller: replicaset.NewReplicaSetController(context.Background(), sets, pods, api, replicaset.BurstReplicas),
		setsIn:     sets.Informer().GetIndexer(),
		podsIn:     pods.Informer().GetIndexer(),
	}
}

// Replace makes these the objects that the controller sees.
func (c *ReplicaSetController) Replace(sets []*appsv1.ReplicaSet, pods []*v1.Pod) {
	replace(c.setsIn, sets)
	replace(c.podsIn, pods)
}

// RelatedPods returns the pods that upstream counts to rank those of a set. For a set without a controller, it reports that
// as an error of the process and returns none.
func (c *ReplicaSetController) RelatedPods(set *appsv1.ReplicaSet) ([]*v1.Pod, error) {
	return getIndirectlyRelatedPods(c.controller, klog.Logger{}, set)
}
