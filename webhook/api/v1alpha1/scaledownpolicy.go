// Package v1alpha1 has the types of the API group podrank.dev, of which there is one: ScaleDownPolicy.
//
// +kubebuilder:object:generate=true
// +groupName=podrank.dev
package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// GroupVersion is the group and version of these types.
var GroupVersion = schema.GroupVersion{Group: "podrank.dev", Version: "v1alpha1"}

// AddToScheme registers these types.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ScaleDownPolicy{}, &ScaleDownPolicyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// ScaleDownPolicy defines which pods Kubernetes deletes first when a workload in its namespace is scaled down. It applies to ReplicaSets,
// including those of Deployments and other controllers, and to ReplicationControllers.
//
// At most one policy applies to a ReplicaSet or ReplicationController. If several policies match it, a targetRef takes precedence over a
// selector, a selector that has requirements takes precedence over an empty one, and then the policy whose name is first in
// alphabetical order applies.
//
// This API is alpha. It may change in incompatible ways in any release.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sdp
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`,description="The mode in effect: Steer or Observe"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the policy takes effect"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it does, or does not",priority=1
// +kubebuilder:printcolumn:name="Workloads",type=integer,JSONPath=`.status.matchedWorkloads`,description="The number of workloads for which the policy decides"
// +kubebuilder:printcolumn:name="Last Result",type=string,JSONPath=`.status.workloads[0].lastScaleDown.result`,description="The result of the latest scale-down"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ScaleDownPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired behavior of scale-downs.
	// +required
	Spec ScaleDownPolicySpec `json:"spec"`
	// +optional
	Status ScaleDownPolicyStatus `json:"status,omitempty"`
}

// ScaleDownPolicySpec describes to which workloads a policy applies, and which of their pods are deleted first. A policy without deleteFirst,
// spread and emptyNodes only observes.
//
// +kubebuilder:validation:XValidation:rule="has(self.targetRef) != has(self.selector)",message="exactly one of targetRef and selector is required"
type ScaleDownPolicySpec struct {
	// targetRef identifies the workload that the policy applies to. Exactly one of targetRef and selector is required.
	// +optional
	TargetRef *WorkloadReference `json:"targetRef,omitempty"`

	// selector is a label query over the pod templates of ReplicaSets and ReplicationControllers. The policy applies to those that match. An
	// empty selector matches all of them in the namespace. Exactly one of targetRef and selector is required.
	// +optional
	Selector *LabelSelector `json:"selector,omitempty"`

	// deleteFirst is the list of preferences that defines which pods are deleted first. The first preference that a pod matches determines
	// its position: pods that match the first preference are deleted before pods that match the second, and so on. Pods that match no
	// preference are deleted last. At most one preference may be of type Lowest or Highest.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.filter(p, p.type in ['Lowest', 'Highest']).size() <= 1",message="at most one preference may be of type Lowest or Highest"
	// +listType=atomic
	DeleteFirst []Preference `json:"deleteFirst,omitempty"`

	// spread is the list of keys of node labels that define the domains over which the remaining pods are balanced, the outermost first,
	// for example topology.kubernetes.io/zone and kubernetes.io/hostname. Among pods that deleteFirst doesn't order, each pod is deleted
	// from the domain that has the most pods left.
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="each node label must be listed once"
	// +listType=atomic
	Spread []string `json:"spread,omitempty"`

	// emptyNodes specifies whether pods are deleted from as few nodes as possible, so that nodes become empty.
	// Valid values are:
	// - "Ignore" (default): nodes that could become empty aren't considered;
	// - "Prefer": among pods that deleteFirst doesn't order, pods are deleted from those nodes first that can become empty with the fewest
	// deletions. spread decides only among equal nodes. Pods in all namespaces are counted, except for mirror pods and those of DaemonSets.
	// +optional
	// +kubebuilder:default=Ignore
	// +kubebuilder:validation:Enum=Ignore;Prefer
	EmptyNodes EmptyNodes `json:"emptyNodes,omitempty"`

	// foreignCosts specifies how to treat pod deletion costs that another program wrote, such as Karpenter. Costs of pods that are kept are never
	// overwritten. A cost that was overwritten is restored if its pod is kept. The administrator of podrank-webhook must allow Follow and Override.
	// Valid values are:
	// - "Keep" (default): these costs are never overwritten;
	// - "Follow": the costs of selected pods may be overwritten. These costs order the pods that the rest of the policy doesn't order,
	// the lowest first;
	// - "Override": the costs of selected pods may be overwritten. These costs don't order pods.
	// +optional
	// +kubebuilder:default=Keep
	// +kubebuilder:validation:Enum=Keep;Follow;Override
	ForeignCosts ForeignCosts `json:"foreignCosts,omitempty"`

	// rollouts specifies what to do when a rollout scales down an old ReplicaSet.
	// Valid values are:
	// - "Ignore" (default): Kubernetes chooses the pods;
	// - "Steer": the policy chooses the pods. Pods that are not available are deleted before all others, because the Deployment relies
	// on that.
	// +optional
	// +kubebuilder:default=Ignore
	// +kubebuilder:validation:Enum=Ignore;Steer
	Rollouts Rollouts `json:"rollouts,omitempty"`

	// mode specifies what the policy does when a workload is scaled down.
	// Valid values are:
	// - "Steer" (default): Kubernetes deletes the pods that the policy selects;
	// - "Observe": no pod is changed. podrank-webhook predicts which pods Kubernetes deletes, and reports whether it was right.
	// +optional
	// +kubebuilder:default=Steer
	// +kubebuilder:validation:Enum=Steer;Observe
	Mode Mode `json:"mode,omitempty"`
}

// Mode specifies what a policy does when a workload is scaled down.
type Mode string

// The modes.
const (
	Steer   Mode = "Steer"
	Observe Mode = "Observe"
)

// EmptyNodes specifies whether nodes become empty.
type EmptyNodes string

// What EmptyNodes may be.
const (
	EmptyNodesIgnore EmptyNodes = "Ignore"
	EmptyNodesPrefer EmptyNodes = "Prefer"
)

// ForeignCosts specifies how to treat pod deletion costs that another program wrote.
type ForeignCosts string

// What ForeignCosts may be.
const (
	Keep     ForeignCosts = "Keep"
	Follow   ForeignCosts = "Follow"
	Override ForeignCosts = "Override"
)

// Rollouts specifies what to do when a rollout scales down an old ReplicaSet.
type Rollouts string

// What Rollouts may be.
const (
	RolloutsIgnore Rollouts = "Ignore"
	RolloutsSteer  Rollouts = "Steer"
)

// Observes reports whether the policy only observes.
func (s *ScaleDownPolicySpec) Observes() bool {
	return s.Mode == Observe || len(s.DeleteFirst) == 0 && len(s.Spread) == 0 && s.EmptyNodes != EmptyNodesPrefer
}

// WorkloadReference identifies a workload in the namespace of the policy: a ReplicaSet, a ReplicationController, or the controller of
// ReplicaSets, such as a Deployment.
type WorkloadReference struct {
	// apiVersion is the API group and version of the workload, for example apps/v1. All versions of the group match.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion"`
	// kind is the kind of the workload, for example Deployment.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`
	Kind string `json:"kind"`
	// name is the name of the workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// LabelSelector is a label query over a set of resources. The result of matchLabels and matchExpressions are ANDed. An empty label selector
// matches all objects.
//
// It is the selector of Kubernetes, with bounds: each replica of podrank-webhook keeps selectors in memory.
//
// +structType=atomic
type LabelSelector struct {
	// matchLabels is a map of {key,value} pairs. A single {key,value} in the matchLabels map is equivalent to an element of matchExpressions,
	// whose key field is "key", the operator is "In", and the values array contains only "value". The requirements are ANDed.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) <= 317 && size(self[key]) <= 63)",message="a label has a key of at most 317 characters and a value of at most 63"
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// matchExpressions is a list of label selector requirements. The requirements are ANDed.
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and values.
type LabelSelectorRequirement struct {
	// key is the label key that the selector applies to.
	// +required
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`
	// operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists and DoesNotExist.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or
	// DoesNotExist, the values array must be empty.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Values []string `json:"values,omitempty"`
}

// Compile parses the selector. Without one, nothing matches.
func (s *LabelSelector) Compile() (labels.Selector, error) {
	if s == nil {
		return labels.Nothing(), nil
	}
	same := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, requirement := range s.MatchExpressions {
		same.MatchExpressions = append(same.MatchExpressions, metav1.LabelSelectorRequirement(requirement))
	}
	return metav1.LabelSelectorAsSelector(same)
}

// Preference describes pods that are deleted before others. Exactly the member that type names is set.
//
// +union
// +kubebuilder:validation:XValidation:rule="has(self.nodes) == (self.type == 'Nodes')",message="nodes is required when type is Nodes, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="has(self.taint) == (self.type == 'Taint')",message="taint is required when type is Taint, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="has(self.condition) == (self.type == 'Condition')",message="condition is required when type is Condition, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="has(self.pods) == (self.type == 'Pods')",message="pods is required when type is Pods, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="has(self.lowest) == (self.type == 'Lowest')",message="lowest is required when type is Lowest, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="has(self.highest) == (self.type == 'Highest')",message="highest is required when type is Highest, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="!has(self.highest) || !has(self.highest.atMost)",message="atMost is forbidden in highest"
type Preference struct {
	// type is the type of the preference. It names the member that is set.
	// Valid values are:
	// - "Nodes", "Taint" and "Condition": pods match if they are assigned to a node that matches;
	// - "Pods": pods match by their own labels;
	// - "Lowest" and "Highest": all pods match, and are ordered by a value of each pod.
	// +unionDiscriminator
	// +required
	Type PreferenceType `json:"type"`
	// nodes is a label query over nodes.
	// +optional
	Nodes *LabelSelector `json:"nodes,omitempty"`
	// taint is a taint that nodes have. If emptyNodes is Prefer, nodes that have the taint also become empty before equal nodes. A node
	// that is cordoned has the taint node.kubernetes.io/unschedulable.
	// +optional
	Taint *Taint `json:"taint,omitempty"`
	// condition is a condition that nodes have.
	// +optional
	Condition *NodeCondition `json:"condition,omitempty"`
	// pods is a label query over the pods of the workload.
	// +optional
	Pods *LabelSelector `json:"pods,omitempty"`
	// lowest is the value by which pods are ordered, the pod with the lowest value first. It is read when the workload is scaled down. All
	// pods that match no earlier preference match, except for pods whose value exceeds atMost: these are left to later preferences, which have no other
	// effect. Among the pods that match, those without a value are deleted last. emptyNodes and spread decide among pods that have equal values. If fewer
	// than half of the pods have a value, values are ignored, and all of these pods are equal.
	// +optional
	Lowest *Measure `json:"lowest,omitempty"`
	// highest is like lowest, but the pod with the highest value is deleted first. atMost is forbidden.
	// +optional
	Highest *Measure `json:"highest,omitempty"`
}

// PreferenceType is the type of a preference.
//
// +enum
// +kubebuilder:validation:Enum=Nodes;Taint;Condition;Pods;Lowest;Highest
type PreferenceType string

// The types of preferences.
const (
	PreferenceNodes     PreferenceType = "Nodes"
	PreferenceTaint     PreferenceType = "Taint"
	PreferenceCondition PreferenceType = "Condition"
	PreferencePods      PreferenceType = "Pods"
	PreferenceLowest    PreferenceType = "Lowest"
	PreferenceHighest   PreferenceType = "Highest"
)

// Taint describes a taint of nodes.
type Taint struct {
	// key is the key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`
	// value is the value of the taint. If unset, all values match.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value *string `json:"value,omitempty"`
	// effect is the effect of the taint. If unset, all effects match.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect,omitempty"`
}

// NodeCondition describes a condition of nodes.
type NodeCondition struct {
	// type is the type of the condition, for example Ready.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`
	// status is the status of the condition. A node without the condition doesn't match.
	// +required
	// +kubebuilder:validation:Enum="True";"False";Unknown
	Status corev1.ConditionStatus `json:"status"`
}

// Measure describes a value of each pod. Exactly one of metric, resource, query and annotation is required.
//
// +kubebuilder:validation:XValidation:rule="[has(self.metric), has(self.resource), has(self.query), has(self.annotation)].filter(e, e).size() == 1",message="exactly one of metric, resource, query and annotation is required"
// +kubebuilder:validation:XValidation:rule="!has(self.annotation) || !has(self.maxAge)",message="maxAge is forbidden with annotation, because an annotation has no time"
// +kubebuilder:validation:XValidation:rule="!has(self.container) || has(self.resource)",message="container is forbidden without resource"
type Measure struct {
	// metric is a metric of pods that the API custom.metrics.k8s.io serves, as in a HorizontalPodAutoscaler.
	// +optional
	Metric *PodMetric `json:"metric,omitempty"`
	// resource is the name of a resource whose current usage the API metrics.k8s.io serves: cpu, in cores, or memory, in bytes.
	// +optional
	// +kubebuilder:validation:Enum=cpu;memory
	Resource string `json:"resource,omitempty"`
	// container is the name of the container whose usage of the resource counts. If unset, the usage of all containers is added.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Container string `json:"container,omitempty"`
	// query is the name of a Prometheus query that the administrator of podrank-webhook has configured.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.-]{1,63}$`
	Query string `json:"query,omitempty"`
	// annotation is an annotation of the pod itself, in which its application or a sidecar writes a number, for example "3" or "0.5".
	// +optional
	Annotation *PodAnnotation `json:"annotation,omitempty"`
	// atMost is the highest value that matches, in the unit of the measure. Pods with a higher value don't match this preference. If unset, all
	// values match.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,15}(\.[0-9]{1,9})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$`
	AtMost *resource.Quantity `json:"atMost,omitempty"`
	// step is the size of the intervals within which values are equal, in the unit of the measure: two values are equal if they lie between
	// the same two multiples of step. It must be greater than 0. If unset, values are compared exactly.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : !self.startsWith('-') && self.matches('[1-9]')",message="step must be greater than 0"
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,15}(\.[0-9]{1,9})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$`
	Step *resource.Quantity `json:"step,omitempty"`
	// maxAge is the maximum age of a value, for example 90s. Older values are ignored. It has no effect with adapters that date each value with the
	// time of their answer. If unset, a value must only be newer than its pod.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
}

// PodMetric identifies a metric of pods.
type PodMetric struct {
	// name is the name of the metric.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.:-]{1,253}$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['.', '..'])",message="the name of a metric is neither . nor .."
	Name string `json:"name"`
	// selector is a label query over the series of the metric. If unset, the adapter decides.
	// +optional
	Selector *LabelSelector `json:"selector,omitempty"`
}

// PodAnnotation identifies an annotation of pods.
type PodAnnotation struct {
	// key is the key of the annotation, for example example.com/active-sessions.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`
}

// ScaleDownPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type ScaleDownPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ScaleDownPolicy `json:"items"`
}

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
