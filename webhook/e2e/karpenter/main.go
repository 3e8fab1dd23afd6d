// Karpenter runs Karpenter's own controller of deletion costs, and what keeps its state of the cluster, without the controllers that make,
// drain and delete nodes. It installs the CRDs of Karpenter first. Instance types come from the cloud provider of Karpenter's tests. Flags and environment variables are
// those of Karpenter, which reads KUBECONFIG. It is a module of its own, because Karpenter needs a newer Go than podrank-webhook.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/karpenter/pkg/apis"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/pod/deletioncost"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/controllers/state/informer"
	"sigs.k8s.io/karpenter/pkg/operator"
	"sigs.k8s.io/karpenter/pkg/state/cost"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

func main() {
	crds := envtest.CRDInstallOptions{CRDs: append(apis.CRDs, v1alpha1.CRDs...)}
	if _, err := envtest.InstallCRDs(ctrl.GetConfigOrDie(), crds); err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
	ctx, op := operator.NewOperator()
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = fake.InstanceTypesAssorted()
	cluster := state.NewCluster(op.Clock, op.GetClient(), provider)
	costs := cost.NewClusterCost(ctx, provider, op.GetClient())
	queue := deletioncost.NewQueue(op.GetClient())
	op.WithControllers(ctx,
		informer.NewDaemonSetController(op.GetClient(), cluster),
		informer.NewNodeController(op.GetClient(), cluster),
		informer.NewPodController(op.GetClient(), cluster),
		informer.NewNodePoolController(op.GetClient(), provider, cluster, costs),
		informer.NewNodeClaimController(op.GetClient(), provider, cluster, costs),
		queue,
		deletioncost.NewController(op.Clock, op.GetClient(), provider, cluster, queue),
	).Start(ctx)
}
