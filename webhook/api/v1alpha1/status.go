package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScaleDownPolicyStatus says what became of the policy's wishes.
type ScaleDownPolicyStatus struct {
	// conditions has Accepted, which is False if the policy cannot be used or an older one counts for a set, and Steering,
	// which is False if the last scale-down was not steered, with the reason.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// scaleDowns has the last scale-downs that the policy applied to, the latest first.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	ScaleDowns []ScaleDown `json:"scaleDowns,omitempty"`
}

// ScaleDown is one request to lower a count.
type ScaleDown struct {
	// time is when the request came.
	Time metav1.Time `json:"time"`
	// kind, name and uid identify the ReplicaSet or ReplicationController.
	Kind string    `json:"kind"`
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	// from and to are the counts before and after.
	From int32 `json:"from"`
	To   int32 `json:"to"`
	// result is Steered, Unconfirmed or Observed, or why the request was let through without steering.
	Result string `json:"result"`
	// message explains the result.
	// +optional
	Message string `json:"message,omitempty"`
	// wanted is the number of pods that should go, or that go if they are only observed.
	Wanted int32 `json:"wanted"`
	// written is the number of deletion costs that were written for it.
	Written int32 `json:"written"`
	// blocked is the number of pods that go although others should, because they are not assigned, running or ready.
	// +optional
	Blocked int32 `json:"blocked,omitempty"`
	// valued is the number of pods whose value counted, if the policy asks for values.
	// +optional
	Valued *int32 `json:"valued,omitempty"`
	// oldestValue is the age of the oldest of these values.
	// +optional
	OldestValue *metav1.Duration `json:"oldestValue,omitempty"`
	// lastToGo is the value of the pod that goes last by it, and nextToGo that of the pod that would go next. They are there if the operator
	// of podrank-webhook publishes values.
	// +optional
	LastToGo string `json:"lastToGo,omitempty"`
	// +optional
	NextToGo string `json:"nextToGo,omitempty"`
	// gone and missed are the numbers of wanted pods that went and that stayed. They are unset until the scale-down is over. If a
	// set falls again before that, a pod counts only once, with the last scale-down that wants it. If pods are only observed, missed
	// is the number of those about which the prediction was wrong.
	// +optional
	Gone *int32 `json:"gone,omitempty"`
	// +optional
	Missed *int32 `json:"missed,omitempty"`
}

// The types of conditions.
const (
	// Accepted is whether the policy can be used, and no older one counts instead.
	Accepted = "Accepted"
	// Steering is whether the last scale-down was steered.
	Steering = "Steering"
	// ModeObserve is the reason of Steering if nothing is steered in the whole cluster.
	ModeObserve = "ModeObserve"
)

// IsOff reports whether the status says that nothing is steered in the whole cluster.
func (s *ScaleDownPolicyStatus) IsOff() bool {
	steering := meta.FindStatusCondition(s.Conditions, Steering)
	return steering != nil && steering.Reason == ModeObserve
}
