// Package policy says which ScaleDownPolicy applies to a set, and which tier it gives a pod. It reads policies, and writes their status. On the
// leader, it judges them.
//
// +kubebuilder:rbac:groups=podrank.dev,resources=scaledownpolicies/status,verbs=update
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// ErrNotAllowed is that the policy says what only the administrator could allow.
var ErrNotAllowed = errors.New("the administrator of podrank-webhook does not allow")

// Each reads the policies of a namespace, and calls use with each compiled policy, or with the error in it. It leaves
// out policies that are being deleted. It returns an error if there are too many. allowed are the ways to treat foreign
// costs that the administrator allows.
func Each(ctx context.Context, live *bounded.Reader, namespace string, allowed []v1alpha1.ForeignCosts, use func(*Compiled, error)) error {
	return Read(ctx, live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if policy.DeletionTimestamp != nil {
			return
		}
		compiled, err := Compile(policy)
		if costs := compiled.ForeignCosts(); costs != v1alpha1.Keep && !slices.Contains(allowed, costs) {
			err = errors.Join(err, fmt.Errorf("spec.foreignCosts: %w %s", ErrNotAllowed, costs))
		}
		use(compiled, err)
	})
}

// IsThere reports whether a namespace has any policy, as far as the cache knows, which does not have what it says.
func IsThere(ctx context.Context, cache client.Reader, namespace string) (bool, error) {
	var some v1alpha1.ScaleDownPolicyList
	err := cache.List(ctx, &some, client.InNamespace(namespace), client.UnsafeDisableDeepCopy, client.Limit(1))
	return len(some.Items) > 0, err
}

// Read reads the policies of a namespace. If there are too many, that is the error.
func Read(ctx context.Context, live *bounded.Reader, namespace string, use func(*v1alpha1.ScaleDownPolicy)) error {
	count := 0
	return bounded.Each(ctx, live, &v1alpha1.ScaleDownPolicyList{}, func(policy *v1alpha1.ScaleDownPolicy) error {
		if count++; count > bounded.Policies {
			return fmt.Errorf("namespace %s has more than %d policies", namespace, bounded.Policies)
		}
		use(policy)
		return nil
	}, client.InNamespace(namespace))
}

// Compare compares policies by precedence: a targetRef comes before a selector, and a selector that has requirements before an empty one. Then
// names decide, and not the time of creation, which changes when policies are restored from a backup.
func Compare(a, b *Compiled) int {
	return cmp.Or(cmp.Compare(a.generality(), b.generality()), strings.Compare(a.Policy.Name, b.Policy.Name))
}

// generality is lower the fewer sets a policy matches.
func (c *Compiled) generality() int {
	switch {
	case c.Policy.Spec.TargetRef != nil:
		return 0
	case c.selector != nil && !c.selector.Empty():
		return 1
	}
	return 2
}

// Nodes returns a node, with what is read of it. One that is not known has nothing.
type Nodes func(name string) *corev1.Node

// Compiled is a policy whose selectors are parsed.
type Compiled struct {
	Policy   *v1alpha1.ScaleDownPolicy
	selector labels.Selector
	tiers    []tier
	// Preference orders the pods of the tier of this number by a value, or is nil.
	Preference *values.Preference
	OfTier     int
}

// tier is a preference of the policy, with the selector that it has, if any.
type tier struct {
	v1alpha1.Preference
	selector labels.Selector
}

// matches reports whether a pod matches. Without a node, it matches no preference about nodes: nodes has an empty one
// for it, which a selector could match.
func (t *tier) matches(pod *corev1.Pod, nodes Nodes) bool {
	switch t.Type {
	case v1alpha1.PreferenceLowest, v1alpha1.PreferenceHighest:
		return true
	case v1alpha1.PreferencePods:
		return t.selector.Matches(labels.Set(pod.Labels))
	case v1alpha1.PreferenceNodes:
		return pod.Spec.NodeName != "" && t.selector.Matches(labels.Set(nodes(pod.Spec.NodeName).Labels))
	case v1alpha1.PreferenceTaint:
		return hasTaint(nodes(pod.Spec.NodeName), t.Taint)
	}
	return slices.ContainsFunc(nodes(pod.Spec.NodeName).Status.Conditions, func(condition corev1.NodeCondition) bool {
		return string(condition.Type) == t.Condition.Type && condition.Status == t.Condition.Status
	})
}

func hasTaint(node *corev1.Node, selected *v1alpha1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return selected.Key == taint.Key && (selected.Value == nil || *selected.Value == taint.Value) && (selected.Effect == "" || selected.Effect == taint.Effect)
	})
}

// Compile parses the policy's selectors. With an error, only Policy is there.
func Compile(policy *v1alpha1.ScaleDownPolicy) (*Compiled, error) {
	// Labels, annotations and the status may be large.
	slim := &v1alpha1.ScaleDownPolicy{Spec: policy.Spec}
	slim.Namespace, slim.Name, slim.UID, slim.Generation = policy.Namespace, policy.Name, policy.UID, policy.Generation
	compiled := &Compiled{Policy: slim}
	var errs []error
	if (policy.Spec.TargetRef == nil) == (policy.Spec.Selector == nil) {
		errs = append(errs, errors.New("spec: exactly one of targetRef and selector is required"))
	}
	var err error
	if compiled.selector, err = policy.Spec.Selector.Compile(); err != nil {
		errs = append(errs, fmt.Errorf("spec.selector: %w", err))
	}
	for i, preference := range policy.Spec.DeleteFirst {
		if err := compiled.prefer(&preference); err != nil {
			errs = append(errs, fmt.Errorf("spec.deleteFirst[%d]%w", i, err))
		}
	}
	return compiled, errors.Join(errs...)
}

// prefer compiles the next preference. One without its member would match all pods or none: it comes from a release that knows more than this
// one, or has lost something on the way here.
func (c *Compiled) prefer(of *v1alpha1.Preference) (err error) {
	members := map[v1alpha1.PreferenceType]bool{
		v1alpha1.PreferenceNodes: of.Nodes != nil, v1alpha1.PreferenceTaint: of.Taint != nil, v1alpha1.PreferenceCondition: of.Condition != nil,
		v1alpha1.PreferencePods: of.Pods != nil, v1alpha1.PreferenceLowest: of.Lowest != nil, v1alpha1.PreferenceHighest: of.Highest != nil,
	}
	maps.DeleteFunc(members, func(_ v1alpha1.PreferenceType, isSet bool) bool { return !isSet })
	if len(members) != 1 || !members[of.Type] {
		return fmt.Errorf(": exactly the member that type names must be set, and type is %.60q. If the API server accepts that, "+
			"this release of podrank-webhook or its CRD does not know the type", of.Type)
	}
	tier := tier{Preference: *of}
	switch of.Type {
	case v1alpha1.PreferenceNodes, v1alpha1.PreferencePods:
		tier.selector, err = cmp.Or(of.Nodes, of.Pods).Compile()
	case v1alpha1.PreferenceLowest, v1alpha1.PreferenceHighest:
		if c.Preference != nil {
			return errors.New(": at most one preference may be of type Lowest or Highest")
		}
		c.OfTier = len(c.tiers)
		c.Preference, err = values.Compile(cmp.Or(of.Lowest, of.Highest), of.Highest != nil)
	}
	if c.tiers = append(c.tiers, tier); err != nil {
		return fmt.Errorf(".%s: %w", strings.ToLower(string(of.Type)), err)
	}
	return nil
}

// Selects reports whether the policy applies to a set.
func (c *Compiled) Selects(set *workload.Set) bool {
	target := c.Policy.Spec.TargetRef
	if target == nil {
		return c.selector.Matches(labels.Set(set.TemplateLabels))
	}
	targeted := schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).GroupKind()
	is := func(apiVersion, kind, name string) bool {
		return name == target.Name && schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind() == targeted
	}
	owner := metav1.GetControllerOfNoCopy(set.Object)
	return is(set.Object.APIVersion, set.Object.Kind, set.Object.Name) || owner != nil && is(owner.APIVersion, owner.Kind, owner.Name)
}

// Tier returns the tier of a pod: the number of the first entry that it matches, or of all entries if it matches none.
func (c *Compiled) Tier(pod *corev1.Pod, nodes Nodes) int { return c.TierFrom(0, pod, nodes) }

// TierFrom is the same for the entries from one on.
func (c *Compiled) TierFrom(first int, pod *corev1.Pod, nodes Nodes) int {
	for i := first; i < len(c.tiers); i++ {
		if c.tiers[i].matches(pod, nodes) {
			return i
		}
	}
	return len(c.tiers)
}

// ForeignCosts is how to treat foreign costs.
func (c *Compiled) ForeignCosts() v1alpha1.ForeignCosts {
	return cmp.Or(c.Policy.Spec.ForeignCosts, v1alpha1.Keep)
}

// IsFirstNode reports whether a node is deleted first among those that are equally good: it is cordoned, or has a taint that the policy names.
func (c *Compiled) IsFirstNode(node *corev1.Node) bool {
	return node.Spec.Unschedulable || slices.ContainsFunc(c.tiers, func(tier tier) bool {
		return tier.Type == v1alpha1.PreferenceTaint && hasTaint(node, tier.Taint)
	})
}

// NodeDomains returns functions that name the domain of a node, the outermost first. Nodes without a label share one domain.
func (c *Compiled) NodeDomains(nodes Nodes) []func(node string) string {
	var domains []func(string) string
	for _, key := range c.Policy.Spec.Spread {
		domains = append(domains, func(node string) string { return nodes(node).Labels[key] })
	}
	return domains
}

// Domains returns functions that name the domain of a pod, the innermost first. Domains of one name in two outer domains are
// two. Pods without a node, and nodes without a label, share one domain.
func (c *Compiled) Domains(nodes Nodes) []func(*corev1.Pod) string {
	var domains []func(*corev1.Pod) string
	for depth := len(c.Policy.Spec.Spread); depth > 0; depth-- {
		keys := c.Policy.Spec.Spread[:depth]
		domains = append(domains, func(pod *corev1.Pod) string {
			node, name := nodes(pod.Spec.NodeName).Labels, ""
			for _, key := range keys {
				name += node[key] + "\n"
			}
			return name
		})
	}
	return domains
}
