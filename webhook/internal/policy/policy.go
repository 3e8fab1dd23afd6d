// Package policy says which ScaleDownPolicy applies to a set, and which tier it gives a pod. It reads policies, and writes their status. On the
// leader, it judges them, and keeps the list of their namespaces.
//
// +kubebuilder:rbac:groups=podrank.dev,resources=scaledownpolicies/status,verbs=update
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Each reads the policies of a namespace, and passes on what becomes of each: it is compiled, or the error says what is wrong with it. One that is
// being deleted is left out. If there are too many, that is the error.
func Each(ctx context.Context, live *bounded.Reader, namespace string, use func(*Compiled, error)) error {
	return Read(ctx, live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if policy.DeletionTimestamp == nil {
			use(Compile(policy))
		}
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

// Compare compares policies by which counts first: the older one.
func Compare(a, b *Compiled) int {
	return cmp.Or(a.Policy.CreationTimestamp.Compare(b.Policy.CreationTimestamp.Time), strings.Compare(a.Policy.Name, b.Policy.Name))
}

// slim returns what is needed of a policy: labels, annotations and the rest of the status may be large.
func slim(policy *v1alpha1.ScaleDownPolicy) *v1alpha1.ScaleDownPolicy {
	slim := &v1alpha1.ScaleDownPolicy{Spec: policy.Spec}
	slim.Namespace, slim.Name, slim.UID, slim.CreationTimestamp = policy.Namespace, policy.Name, policy.UID, policy.CreationTimestamp
	slim.Generation = policy.Generation
	for _, kind := range []string{v1alpha1.Accepted, v1alpha1.Steering} {
		if condition := meta.FindStatusCondition(policy.Status.Conditions, kind); condition != nil {
			slim.Status.Conditions = append(slim.Status.Conditions, *condition)
		}
	}
	return slim
}

// Nodes returns the labels of a node, or nil if it is not known.
type Nodes func(name string) labels.Set

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

type tier struct{ nodes, pods labels.Selector }

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
		compiled.tiers = append(compiled.tiers, tier{parse(entry.Nodes, field+"nodes"), parse(entry.Pods, field+"pods")})
	}
	return compiled, errors.Join(errs...)
}

// order compiles by which value the pods of an entry go. An entry without anything would have all pods go first: it comes from a release that
// knows more than this one, or has lost something on the way here.
func (c *Compiled) order(number int, entry *v1alpha1.Tier) (err error) {
	measure := cmp.Or(entry.Lowest, entry.Highest)
	switch {
	case measure == nil && entry.Nodes == nil && entry.Pods == nil:
		return errors.New(": set nodes, pods, lowest or highest. If the policy has another field here, this release of podrank or its CRD does not know it")
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
		tier := c.tiers[i]
		if tier.nodes != nil && (pod.Spec.NodeName == "" || !tier.nodes.Matches(nodes(pod.Spec.NodeName))) {
			continue
		}
		if tier.pods != nil && !tier.pods.Matches(labels.Set(pod.Labels)) {
			continue
		}
		return i
	}
	return len(c.tiers)
}

// NodeDomains returns functions that name the domain of a node, the outermost first. Nodes without a label share one domain.
func (c *Compiled) NodeDomains(nodes Nodes) []func(node string) string {
	var domains []func(string) string
	for _, key := range c.spread {
		domains = append(domains, func(node string) string { return nodes(node)[key] })
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
			node, name := nodes(pod.Spec.NodeName), ""
			for _, key := range keys {
				name += node[key] + "\n"
			}
			return name
		})
	}
	return domains
}
