// Package policy says which ScaleDownPolicy applies to a set, and which tier it gives a pod. It reads policies, and writes their status. On the
// leader, it judges them, and keeps the list of their namespaces.
//
// +kubebuilder:rbac:groups=podrank.dev,resources=scaledownpolicies/status,verbs=update
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/values"
)

// ErrNotAllowed is that the policy says what only the administrator could allow.
var ErrNotAllowed = errors.New("the administrator of podrank-webhook does not allow")

// Each reads the policies of a namespace, and passes on what becomes of each: it is compiled, or the error says what is wrong with it. One that is
// being deleted is left out. If there are too many, that is the error. The operator allows what may become of the costs of others.
func Each(ctx context.Context, live *bounded.Reader, namespace string, allowed []v1alpha1.Others, use func(*Compiled, error)) error {
	return Read(ctx, live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if policy.DeletionTimestamp != nil {
			return
		}
		compiled, err := Compile(policy)
		if others := compiled.Others(); others != v1alpha1.Keep && !slices.Contains(allowed, others) {
			err = errors.Join(err, fmt.Errorf("spec.others: %w %s", ErrNotAllowed, others))
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

// Namespaces returns the namespaces that have policies, as far as the cache knows.
func Namespaces(ctx context.Context, cache client.Reader) (map[string]bool, error) {
	var policies v1alpha1.ScaleDownPolicyList
	err := cache.List(ctx, &policies, client.UnsafeDisableDeepCopy)
	namespaces := map[string]bool{}
	for i := range policies.Items {
		namespaces[policies.Items[i].Namespace] = true
	}
	return namespaces, err
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

// Compare compares policies by which counts first: the older one.
func Compare(a, b *Compiled) int {
	return cmp.Or(a.Policy.CreationTimestamp.Compare(b.Policy.CreationTimestamp.Time), strings.Compare(a.Policy.Name, b.Policy.Name))
}

// slim returns what is needed of a policy: labels, annotations and the rest of the status may be large.
func slim(policy *v1alpha1.ScaleDownPolicy) *v1alpha1.ScaleDownPolicy {
	slim := &v1alpha1.ScaleDownPolicy{Spec: policy.Spec}
	slim.Namespace, slim.Name, slim.UID, slim.CreationTimestamp = policy.Namespace, policy.Name, policy.UID, policy.CreationTimestamp
	slim.Generation = policy.Generation
	slim.Status = v1alpha1.ScaleDownPolicyStatus{
		ObservedGeneration: policy.Status.ObservedGeneration, Mode: policy.Status.Mode, MatchedWorkloads: policy.Status.MatchedWorkloads,
	}
	for _, kind := range []string{v1alpha1.Ready, v1alpha1.Conflicted} {
		if condition := meta.FindStatusCondition(policy.Status.Conditions, kind); condition != nil {
			slim.Status.Conditions = append(slim.Status.Conditions, *condition)
		}
	}
	return slim
}

// Nodes returns a node, with what is read of it. One that is not known has nothing.
type Nodes func(name string) *corev1.Node

// Compiled is a policy whose selectors are parsed.
type Compiled struct {
	Policy   *v1alpha1.ScaleDownPolicy
	selector labels.Selector
	tiers    []tier
	spread   []string
	// wish orders the pods of the tier of this number by a value, or is nil.
	wish   *values.Wish
	wishes int
}

// tier is an entry of the policy. What is nil matches everything.
type tier struct {
	nodes, pods labels.Selector
	taint       *v1alpha1.Taint
	condition   *v1alpha1.NodeCondition
	cordoned    *bool
}

// isOnNode reports whether a pod matches because of its node.
func (t *tier) isOnNode(pod *corev1.Pod, nodes Nodes) bool {
	if t.nodes == nil && t.taint == nil && t.condition == nil && t.cordoned == nil {
		return true
	}
	if pod.Spec.NodeName == "" {
		return false
	}
	node := nodes(pod.Spec.NodeName)
	return (t.nodes == nil || t.nodes.Matches(labels.Set(node.Labels))) &&
		(t.taint == nil || hasTaint(node, t.taint)) &&
		(t.condition == nil || slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return string(condition.Type) == t.condition.Type && condition.Status == t.condition.Status
		})) &&
		(t.cordoned == nil || *t.cordoned == node.Spec.Unschedulable)
}

func hasTaint(node *corev1.Node, wanted *v1alpha1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return wanted.Key == taint.Key && (wanted.Value == nil || *wanted.Value == taint.Value) && (wanted.Effect == "" || wanted.Effect == taint.Effect)
	})
}

// Compile parses the policy's selectors. With an error, only Policy is there.
func Compile(policy *v1alpha1.ScaleDownPolicy) (*Compiled, error) {
	compiled := &Compiled{Policy: slim(policy), spread: policy.Spec.Spread}
	var errs []error
	parse := func(selector *metav1.LabelSelector, field string) labels.Selector {
		if selector == nil {
			return nil
		}
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		return parsed
	}
	compiled.selector = parse(&policy.Spec.Selector, "spec.selector")
	for i, entry := range policy.Spec.First {
		field := fmt.Sprintf("spec.first[%d]", i)
		if err := compiled.order(i, &entry); err != nil {
			errs = append(errs, fmt.Errorf("%s%w", field, err))
		}
		field += "."
		compiled.tiers = append(compiled.tiers, tier{
			nodes: parse(entry.Nodes, field+"nodes"), pods: parse(entry.Pods, field+"pods"),
			taint: entry.Taint, condition: entry.Condition, cordoned: entry.Cordoned,
		})
	}
	return compiled, errors.Join(errs...)
}

// order compiles by which value the pods of an entry go. An entry without anything would have all pods go first: it comes from a release that
// knows more than this one, or has lost something on the way here.
func (c *Compiled) order(number int, entry *v1alpha1.Tier) (err error) {
	measure := cmp.Or(entry.Lowest, entry.Highest)
	switch {
	case measure == nil && entry.Nodes == nil && entry.Taint == nil && entry.Condition == nil && entry.Cordoned == nil && entry.Pods == nil:
		return errors.New(": set nodes, taint, condition, cordoned, pods, lowest or highest. If the policy has another field here, this release of podrank or its CRD does not know it")
	case measure == nil:
		return nil
	case entry.Lowest != nil && entry.Highest != nil:
		return errors.New(": set lowest or highest, and not both")
	case c.wish != nil:
		return errors.New(": only one entry may have lowest or highest")
	}
	if c.wish, err = values.Compile(measure, entry.Highest != nil); err != nil {
		return fmt.Errorf(".%s: %w", map[bool]string{false: "lowest", true: "highest"}[entry.Highest != nil], err)
	}
	c.wishes = number
	return nil
}

// Wish returns the tier whose pods go by a value, and by which, or nil.
func (c *Compiled) Wish() (tier int, wish *values.Wish) { return c.wishes, c.wish }

// Selects reports whether the policy selects a set whose template has these labels.
func (c *Compiled) Selects(template labels.Set) bool { return c.selector.Matches(template) }

// Tier returns the tier of a pod: the number of the first entry that it matches, or of all entries if it matches none.
func (c *Compiled) Tier(pod *corev1.Pod, nodes Nodes) int { return c.TierFrom(0, pod, nodes) }

// TierFrom is the same for the entries from one on.
func (c *Compiled) TierFrom(first int, pod *corev1.Pod, nodes Nodes) int {
	for i := first; i < len(c.tiers); i++ {
		tier := &c.tiers[i]
		if tier.isOnNode(pod, nodes) && (tier.pods == nil || tier.pods.Matches(labels.Set(pod.Labels))) {
			return i
		}
	}
	return len(c.tiers)
}

// Others is what becomes of the costs of others.
func (c *Compiled) Others() v1alpha1.Others { return cmp.Or(c.Policy.Spec.Others, v1alpha1.Keep) }

// IsFirstNode reports whether a node goes first among those that are as good: it is cordoned, or has a taint that the policy names.
func (c *Compiled) IsFirstNode(node *corev1.Node) bool {
	return node.Spec.Unschedulable || slices.ContainsFunc(c.tiers, func(tier tier) bool { return tier.taint != nil && hasTaint(node, tier.taint) })
}

// NodeDomains returns functions that name the domain of a node, the outermost first. Nodes without a label share one domain.
func (c *Compiled) NodeDomains(nodes Nodes) []func(node string) string {
	var domains []func(string) string
	for _, key := range c.spread {
		domains = append(domains, func(node string) string { return nodes(node).Labels[key] })
	}
	return domains
}

// Domains returns functions that name the domain of a pod, the innermost first. Domains of one name in two outer domains are
// two. Pods without a node, and nodes without a label, share one domain.
func (c *Compiled) Domains(nodes Nodes) []func(*corev1.Pod) string {
	var domains []func(*corev1.Pod) string
	for depth := len(c.spread); depth > 0; depth-- {
		keys := c.spread[:depth]
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
