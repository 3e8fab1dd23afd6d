// Package v1alpha1 has the types of the API group podrank.dev, of which there is one: ScaleDownPolicy.
//
// +kubebuilder:object:generate=true
// +groupName=podrank.dev
package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of these types.
var GroupVersion = schema.GroupVersion{Group: "podrank.dev", Version: "v1alpha1"}

// AddToScheme registers these types.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ScaleDownPolicy{}, &ScaleDownPolicyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// ScaleDownPolicy says which pods go first when the count of a ReplicaSet or ReplicationController in its namespace falls.
// If two policies select the same set, the older one counts.
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

	// +required
	Spec ScaleDownPolicySpec `json:"spec"`
	// +optional
	Status ScaleDownPolicyStatus `json:"status,omitempty"`
}

// ScaleDownPolicySpec is what the policy asks for. With neither first nor spread, it only observes.
type ScaleDownPolicySpec struct {
	// selector selects ReplicaSets and ReplicationControllers by the labels of their pod templates, as a
	// PodDisruptionBudget selects pods. An empty selector selects all in the namespace.
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// first says which pods go first: those that match the first entry, then those that match the second, and so on. Pods
	// that match no entry go last.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.filter(e, has(e.lowest) || has(e.highest)).size() <= 1",message="only one entry may have lowest or highest"
	// +listType=atomic
	First []Tier `json:"first,omitempty"`

	// spread has node labels, the outermost first, such as topology.kubernetes.io/zone and kubernetes.io/hostname. Among
	// pods that first does not tell apart, each pod comes from the domain that has the most pods left.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="each node label must be listed once"
	// +listType=atomic
	Spread []string `json:"spread,omitempty"`

	// mode says what happens when a count falls. Steer makes the wanted pods go. Observe writes nothing to pods: it predicts which
	// pods Kubernetes deletes by itself, and compares afterwards.
	// +optional
	// +kubebuilder:default=Steer
	// +kubebuilder:validation:Enum=Steer;Observe
	Mode Mode `json:"mode,omitempty"`

	// emptyNodes says whether whole nodes go, so that they become empty: within the entries of first, those that can become empty with the
	// fewest deletions. The spread then decides only between nodes that are as good. Pods in all namespaces count, except for those of
	// DaemonSets and mirror pods.
	// +optional
	// +kubebuilder:default=false
	EmptyNodes bool `json:"emptyNodes"`

	// others says what becomes of deletion costs that somebody else has written, such as Karpenter. Keep leaves them as they are. With Follow and
	// Override, the cost of a pod that should go may be overwritten, and comes back if the pod stays. That of a pod that stays never is. Follow
	// lets these costs decide what the rest of the policy leaves open, the lower first. Override leaves that to podrank's order. The operator
	// of podrank-webhook has to allow both.
	// +optional
	// +kubebuilder:default=Keep
	// +kubebuilder:validation:Enum=Keep;Follow;Override
	Others Others `json:"others,omitempty"`

	// rollouts says whether to steer the old ReplicaSets of a rollout, too. All their pods go in the end. Pods that are not
	// available go first then, because the Deployment counts on losing them.
	// +optional
	// +kubebuilder:default=false
	Rollouts bool `json:"rollouts"`
}

// Mode is what a policy does.
type Mode string

// The modes.
const (
	Steer   Mode = "Steer"
	Observe Mode = "Observe"
)

// Others is what becomes of the costs of others.
type Others string

// What may become of the costs of others.
const (
	Keep     Others = "Keep"
	Follow   Others = "Follow"
	Override Others = "Override"
)

// Observes reports whether the policy only observes.
func (s *ScaleDownPolicySpec) Observes() bool {
	return s.Mode == Observe || len(s.First) == 0 && len(s.Spread) == 0 && !s.EmptyNodes
}

// Tier selects pods, and may order them. A pod must match all that is set. If only lowest or highest is, all pods match.
//
// +kubebuilder:validation:XValidation:rule="has(self.nodes) || has(self.taint) || has(self.condition) || has(self.cordoned) || has(self.pods) || has(self.lowest) || has(self.highest)",message="set nodes, taint, condition, cordoned, pods, lowest or highest"
// +kubebuilder:validation:XValidation:rule="!has(self.lowest) || !has(self.highest)",message="set lowest or highest, and not both"
// +kubebuilder:validation:XValidation:rule="!has(self.highest) || !has(self.highest.atMost)",message="atMost needs lowest"
type Tier struct {
	// nodes selects pods by the labels of their nodes. Unassigned pods do not match.
	// +optional
	Nodes *metav1.LabelSelector `json:"nodes,omitempty"`
	// taint selects pods by a taint of their nodes. With emptyNodes, such nodes also go first among those that are as good.
	// +optional
	Taint *Taint `json:"taint,omitempty"`
	// condition selects pods by a condition of their nodes.
	// +optional
	Condition *NodeCondition `json:"condition,omitempty"`
	// cordoned selects pods by whether their nodes are cordoned.
	// +optional
	Cordoned *bool `json:"cordoned,omitempty"`
	// pods selects pods by their own labels.
	// +optional
	Pods *metav1.LabelSelector `json:"pods,omitempty"`
	// lowest orders the pods of this entry by a value that is read when the count falls: the lowest goes first. emptyNodes and spread
	// decide between equal values. Pods without a value come last. If fewer than half of the pods have one, none counts.
	// +optional
	Lowest *Measure `json:"lowest,omitempty"`
	// highest is the same with the highest value first.
	// +optional
	Highest *Measure `json:"highest,omitempty"`
}

// Taint describes taints of nodes.
type Taint struct {
	// key is that of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`
	// value is that of the taint. By default, any value matches.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value *string `json:"value,omitempty"`
	// effect is that of the taint. By default, any effect matches.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect,omitempty"`
}

// NodeCondition describes a condition of nodes.
type NodeCondition struct {
	// type is that of the condition, such as Ready.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`
	// status is that of the condition. A node without the condition does not match.
	// +required
	// +kubebuilder:validation:Enum="True";"False";Unknown
	Status corev1.ConditionStatus `json:"status"`
}

// Measure is a value of each pod, and how it is used. Set one of metric, resource and query.
//
// +kubebuilder:validation:XValidation:rule="[has(self.metric), has(self.resource), has(self.query)].filter(e, e).size() == 1",message="set one of metric, resource and query"
// +kubebuilder:validation:XValidation:rule="!has(self.container) || has(self.resource)",message="container needs resource"
type Measure struct {
	// metric is a metric of pods that an adapter serves as custom.metrics.k8s.io, as for a HorizontalPodAutoscaler.
	// +optional
	Metric *PodMetric `json:"metric,omitempty"`
	// resource is what the pod uses of cpu or memory, as metrics.k8s.io says.
	// +optional
	// +kubebuilder:validation:Enum=cpu;memory
	Resource string `json:"resource,omitempty"`
	// container is the container of which the resource counts. By default, the sum of all counts.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Container string `json:"container,omitempty"`
	// query is the name of a query of Prometheus that the operator of podrank-webhook has set.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.-]{1,63}$`
	Query string `json:"query,omitempty"`
	// atMost keeps pods with a higher value out of this entry.
	// +optional
	AtMost *resource.Quantity `json:"atMost,omitempty"`
	// step makes values equal that lie between the same two multiples of it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : !self.startsWith('-') && self.matches('[1-9]')",message="step must be more than 0"
	Step *resource.Quantity `json:"step,omitempty"`
	// maxAge is how old a value may be. Some adapters give values the time of their answer: then it has no effect. By default, a value
	// only has to be younger than its pod.
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
}

// PodMetric names a metric of pods.
type PodMetric struct {
	// name is that of the metric.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.:-]{1,253}$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['.', '..'])",message="this is no name of a metric"
	Name string `json:"name"`
	// selector selects by the labels of the metric.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// ScaleDownPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type ScaleDownPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ScaleDownPolicy `json:"items"`
}
