// Package policy says which ScaleDownPolicy applies to a set, and which tier it gives a pod. It only computes.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

// Choose returns the policies that select a set by the labels of its pods' template, the one that counts first: the oldest.
// Policies that are being deleted or have an invalid selector select nothing.
func Choose(policies []v1alpha1.ScaleDownPolicy, template labels.Set) []*v1alpha1.ScaleDownPolicy {
	var chosen []*v1alpha1.ScaleDownPolicy
	for i := range policies {
		policy := &policies[i]
		if compiled, err := Compile(policy); err == nil && policy.DeletionTimestamp == nil && compiled.selector.Matches(template) {
			chosen = append(chosen, policy)
		}
	}
	slices.SortFunc(chosen, func(a, b *v1alpha1.ScaleDownPolicy) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return chosen
}

// Nodes returns the labels of a node, or nil if it is not known.
type Nodes func(name string) labels.Set

// Compiled is a policy whose selectors are parsed.
type Compiled struct {
	selector labels.Selector
	tiers    []tier
	spread   []string
}

type tier struct{ nodes, pods labels.Selector }

// Compile parses the policy's selectors.
func Compile(policy *v1alpha1.ScaleDownPolicy) (*Compiled, error) {
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.selector: %w", err)
	}
	compiled := &Compiled{selector: selector, spread: policy.Spec.Spread}
	for i, entry := range policy.Spec.First {
		var parsed tier
		if entry.Nodes != nil {
			if parsed.nodes, err = metav1.LabelSelectorAsSelector(entry.Nodes); err != nil {
				return nil, fmt.Errorf("spec.first[%d].nodes: %w", i, err)
			}
		}
		if entry.Pods != nil {
			if parsed.pods, err = metav1.LabelSelectorAsSelector(entry.Pods); err != nil {
				return nil, fmt.Errorf("spec.first[%d].pods: %w", i, err)
			}
		}
		compiled.tiers = append(compiled.tiers, parsed)
	}
	return compiled, nil
}

// Tier returns the tier of a pod: the number of the first entry that it matches, or of all entries if it matches none.
func (c *Compiled) Tier(pod *corev1.Pod, nodes Nodes) int {
	for i, tier := range c.tiers {
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
