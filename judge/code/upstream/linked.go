package upstream

import (
	"context"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// The functions below are unexported upstream; linked.s lets them stand here
// without bodies. Their signatures are not checked by the linker: after a new
// pin, compare them with upstream's replica_set.go and deployment_controller.go.

// PodsToDelete returns upstream's victims. Like upstream it sorts active in
// place (only if diff < len(active)) and returns its first diff elements; now is
// the wall clock. Keep creation times of ready pods at least 1 ms from it:
// upstream's metric divides by the youngest one's age in whole milliseconds.
//
//go:linkname PodsToDelete k8s.io/kubernetes/pkg/controller/replicaset.getPodsToDelete
func PodsToDelete(active, related []*v1.Pod, diff int) []*v1.Pod

//go:linkname getPodsRanked k8s.io/kubernetes/pkg/controller/replicaset.getPodsRankedByRelatedPodsOnSameNode
func getPodsRanked(active, related []*v1.Pod) controller.ActivePodsWithRanks

//go:linkname getIndirectlyRelatedPods k8s.io/kubernetes/pkg/controller/replicaset.(*ReplicaSetController).getIndirectlyRelatedPods
func getIndirectlyRelatedPods(c *replicaset.ReplicaSetController, logger klog.Logger, set *appsv1.ReplicaSet) ([]*v1.Pod, error)

// SlowStartBatch calls fn up to count times in doubling batches, concurrently
// within a batch, and returns the successes and one error of the failed batch.
//
//go:linkname SlowStartBatch k8s.io/kubernetes/pkg/controller/replicaset.slowStartBatch
func SlowStartBatch(count, initialBatchSize int, fn func() error) (int, error)

//go:linkname syncDeployment k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment
func syncDeployment(dc *deployment.DeploymentController, ctx context.Context, key string) error

// Ranks counts, for each active pod, the related active pods on its node. Pods
// without a node share the node named "".
func Ranks(active, related []*v1.Pod) []int {
	return getPodsRanked(active, related).Rank
}
