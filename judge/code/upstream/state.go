package upstream

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
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

// IsActive reports whether a pod counts.
func IsActive(p *v1.Pod) bool { return controller.IsPodActive(p) }

// Availability counts the ready and the available pods, and says when to look
// again: nil for never.
func Availability(pods []*v1.Pod, minReadySeconds int32, now time.Time) (ready, available int, next *time.Duration) {
	for _, p := range pods {
		if podutil.IsPodReady(p) {
			ready++
		}
		if podutil.IsPodAvailable(p, minReadySeconds, metav1.NewTime(now)) {
			available++
		}
	}
	return ready, available, controller.FindMinNextPodAvailabilityCheck(pods, minReadySeconds, now, moment{now})
}

// A moment is a clock that stands still.
type moment struct{ time.Time }

func (m moment) Now() time.Time                  { return m.Time }
func (m moment) Since(t time.Time) time.Duration { return m.Sub(t) }
