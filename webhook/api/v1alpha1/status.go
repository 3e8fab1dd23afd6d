package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScaleDownPolicyStatus is the most recently observed state of a policy.
type ScaleDownPolicyStatus struct {
	// observedGeneration is the generation of the policy that mode, matchedWorkloads and conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// mode is the mode in effect. It is Observe if the policy says so, if it has no preferences, or if the administrator runs podrank-webhook with
	// --mode=Observe.
	// +optional
	// +kubebuilder:validation:Enum=Steer;Observe
	Mode Mode `json:"mode,omitempty"`
	// matchedWorkloads is the number of workloads for which this policy decides. All ReplicaSets of a Deployment, or of another controller, count as
	// one workload. A workload counts even if it has no pods.
	// +optional
	MatchedWorkloads *int32 `json:"matchedWorkloads,omitempty"`
	// conditions are Ready and Conflicted.
	//
	// Ready is True if the policy takes effect the next time that one of its workloads is scaled down. Otherwise, its reason is one of:
	// "Invalid": the message says which field is wrong.
	// "NotAllowed": the policy asks for something that the administrator of podrank-webhook does not allow.
	// "NamespaceNotEnabled": podrank-webhook does not act in this namespace. The administrator has to label it podrank.dev/steering=enabled.
	// "NotReachable": the API server does not reach podrank-webhook, so no scale-down is steered.
	// "MissingRights": podrank-webhook may not patch the pods of this namespace.
	// "NoWorkloads": the policy matches no ReplicaSet or ReplicationController.
	// "Conflicted": the policy matches some, and other policies decide for all of them.
	//
	// Conflicted is True if another policy decides for a workload that this policy matches. The message names the two. Its reason is
	// "Conflicted" or "NoConflict".
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// workloads are the ReplicaSets and ReplicationControllers that were scaled down last while this policy decided for them, the latest first.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=uid
	Workloads []WorkloadStatus `json:"workloads,omitempty"`
	// droppedWorkloads is how many entries were dropped from workloads to make room for later ones.
	// +optional
	DroppedWorkloads int32 `json:"droppedWorkloads,omitempty"`
}

// WorkloadStatus is what this policy did last for a ReplicaSet or ReplicationController.
type WorkloadStatus struct {
	// kind is ReplicaSet or ReplicationController.
	Kind string `json:"kind"`
	// name is the name of the workload.
	Name string `json:"name"`
	// uid is the UID of the workload.
	UID types.UID `json:"uid"`
	// lastScaleDown is the latest scale-down of the workload.
	LastScaleDown ScaleDown `json:"lastScaleDown"`
}

// ScaleDown is a scale-down of a workload, and its result.
type ScaleDown struct {
	// time is when podrank-webhook was asked about the scale-down.
	Time metav1.Time `json:"time"`
	// generation is metadata.generation of the workload before the scale-down. It tells scale-downs of a workload apart.
	Generation int64 `json:"generation"`
	// from is the replica count before the scale-down.
	From int32 `json:"from"`
	// to is the replica count after the scale-down.
	To int32 `json:"to"`
	// result is one of:
	// "Steered": the selected pods had the lowest deletion costs, and the controller of the workload had seen them.
	// "Unconfirmed": the same, but the deadline came before it was clear that the controller had seen them. See deleted and missed.
	// "Unsettled": pods kept changing, or there was an error, and Kubernetes decided with the deletion costs that were written by then.
	// "Observed": the policy only observes, and Kubernetes deleted the pods that podrank-webhook had predicted.
	// "PredictedWrongly": the policy only observes, and Kubernetes deleted other pods.
	// "StoodAside": `kubectl podrank scale` was steering this workload.
	// "NoRoom": deletion costs that another program wrote left none that is low enough.
	// "DeadlineExceeded": the deadline came before any deletion cost was written.
	// "Failed": the message says which error there was.
	// After the last four, Kubernetes chose the pods as if there were no policy.
	// +kubebuilder:validation:Enum=Steered;Unconfirmed;Unsettled;Observed;PredictedWrongly;StoodAside;NoRoom;DeadlineExceeded;Failed
	Result string `json:"result"`
	// message explains the result, and names pods.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Message string `json:"message,omitempty"`
	// selected is the number of pods that the policy selected for deletion. If it only observes, it is the number that Kubernetes was to delete.
	Selected int32 `json:"selected"`
	// written is the number of deletion costs that podrank-webhook wrote.
	Written int32 `json:"written"`
	// unsteerable is the number of pods that Kubernetes deletes before selected ones whatever their deletion cost, because they are not assigned to a
	// node, not running or not ready.
	// +optional
	Unsteerable int32 `json:"unsteerable,omitempty"`
	// valued is the number of pods that had a value, if the policy orders pods by a value.
	// +optional
	Valued *int32 `json:"valued,omitempty"`
	// oldestValue is the age of the oldest of these values.
	// +optional
	OldestValue *metav1.Duration `json:"oldestValue,omitempty"`
	// deleted is the number of selected pods that were deleted. It is unset until the scale-down is over. If the workload is scaled down again before
	// that, each pod counts only with the last scale-down that selected it.
	// +optional
	Deleted *int32 `json:"deleted,omitempty"`
	// missed is the number of selected pods that were kept. It is unset until the scale-down is over. If the policy only observes, it is the number of
	// pods about which the prediction was wrong.
	// +optional
	Missed *int32 `json:"missed,omitempty"`
	// missedMessage says why these pods were kept, and names some of them.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	MissedMessage string `json:"missedMessage,omitempty"`
}

// The types of conditions.
const (
	// Ready is whether the policy takes effect.
	Ready = "Ready"
	// Conflicted is whether another policy decides for a workload that this one matches.
	Conflicted = "Conflicted"
)

// The reasons of conditions. One that is True has its type as the reason.
const (
	Invalid             = "Invalid"
	NotAllowed          = "NotAllowed"
	NamespaceNotEnabled = "NamespaceNotEnabled"
	NotReachable        = "NotReachable"
	MissingRights       = "MissingRights"
	NoWorkloads         = "NoWorkloads"
	// NoConflict is the reason of Conflicted if it is False.
	NoConflict = "NoConflict"
)

// SteeringLabel is the label of a namespace that has the API server ask about scale-downs there, if its value is SteeringEnabled.
const (
	SteeringLabel   = "podrank.dev/steering"
	SteeringEnabled = "enabled"
)

// Workload returns the entry of a workload, or nil.
func (s *ScaleDownPolicyStatus) Workload(uid types.UID) *WorkloadStatus {
	for i := range s.Workloads {
		if s.Workloads[i].UID == uid {
			return &s.Workloads[i]
		}
	}
	return nil
}
