package upstream

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/features"
)

// SetDeletionCostGate turns the PodDeletionCost gate on or off for the whole
// process. It is the only gate the order still depends on: LogarithmicScaleDown
// is gone from upstream, and a zero now stands for its "off".
func SetDeletionCostGate(on bool) error {
	return utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("%s=%t", features.PodDeletionCost, on))
}

// NewExpectations returns the ledger a ReplicaSet controller waits on.
func NewExpectations() *controller.UIDTrackingControllerExpectations {
	return controller.NewUIDTrackingControllerExpectations(controller.NewControllerExpectations())
}
