package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
)

// A decision is what a line of the log says of one. It has nothing of who asked. docs/decisions.md describes it: fields may be added, and none changes its
// meaning.
type decision struct {
	Version     int            `json:"v"`
	Time        string         `json:"time"`
	Request     types.UID      `json:"request"`
	Kind        string         `json:"kind"`
	Namespace   string         `json:"namespace"`
	Name        string         `json:"name"`
	UID         types.UID      `json:"uid"`
	Generation  int64          `json:"generation"`
	Mode        v1alpha1.Mode  `json:"mode"`
	From        int32          `json:"from"`
	To          int32          `json:"to"`
	Result      string         `json:"result"`
	Policy      string         `json:"policy,omitempty"`
	Message     string         `json:"message,omitempty"`
	Written     int            `json:"written"`
	Unsteerable int            `json:"unsteerable,omitempty"`
	Next        string         `json:"next,omitempty"`
	Pods        []pod          `json:"pods"`
	More        int            `json:"more,omitempty"`
	Rules       map[string]int `json:"rules"`
}

// pod is a pod of a decision.
type pod struct {
	Name        string    `json:"name,omitempty"`
	UID         types.UID `json:"uid"`
	Rule        string    `json:"rule"`
	Probability *float64  `json:"probability,omitempty"`
	Value       *float64  `json:"value,omitempty"`
}

// A Selection is what the annotation of an event says of a decision. Of pods, it has the UID and the rule.
type Selection struct {
	Version int           `json:"v"`
	Mode    v1alpha1.Mode `json:"mode"`
	From    int32         `json:"from"`
	To      int32         `json:"to"`
	Pods    []pod         `json:"pods"`
	More    int           `json:"more,omitempty"`
}

func (d *decision) selection() *Selection {
	s := &Selection{Version: d.Version, Mode: d.Mode, From: d.From, To: d.To, Pods: []pod{}, More: d.More}
	for _, each := range d.Pods {
		s.Pods = append(s.Pods, pod{UID: each.UID, Rule: each.Rule})
	}
	return s
}

// What became of pods that nobody steered, in place of a rule.
const (
	// chance: Kubernetes could have deleted another one.
	chance = "chance"
	// certain: Kubernetes deletes it in any case, though by no single rule.
	certain = "certain"
	// unpredicted: the prediction was wrong.
	unpredicted = "unpredicted"
)

// selected are the pods that were selected, with their values only if these may be published.
func (r *Reporter) selected(o *steer.Outcome) (pods []pod) {
	if !o.Result.Holds() {
		return nil
	}
	for i, each := range o.Selected {
		row := pod{Name: each.Key.Name, UID: each.UID, Rule: o.Whys[i].Rule}
		if r.PublishValues {
			row.Value = o.Whys[i].Value
		}
		pods = append(pods, row)
	}
	return pods
}

// gone returns the deleted pods that the policy did not select, starting with those that were certain.
func gone(o *steer.Outcome, c steer.Comparison) (pods []pod) {
	for uid, name := range c.Deleted {
		row := pod{Name: name, UID: uid, Rule: unpredicted}
		why, isCertain := o.Prediction.Whys[uid]
		switch {
		case isCertain:
			row.Rule = cmp.Or(why.Rule, certain)
		case o.Prediction.Possible[uid]:
			row.Rule = chance
			if share, isKnown := o.Prediction.Chances[uid]; isKnown {
				row.Probability = &share
			}
		}
		pods = append(pods, row)
	}
	last := func(pod pod) int { return map[string]int{chance: 1, unpredicted: 2}[pod.Rule] }
	slices.SortFunc(pods, func(a, b pod) int { return cmp.Or(cmp.Compare(last(a), last(b)), strings.Compare(a.Name, b.Name)) })
	return pods
}

// decided is what the log says of a decision.
func decided(o *steer.Outcome, message, next string, pods []pod, rules map[string]int) *decision {
	set := setOf(o)
	d := &decision{
		Version: 1, Time: o.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Request: o.UID,
		Kind: string(o.Kind), Namespace: o.Key.Namespace, Name: o.Key.Name, UID: set.UID(), Generation: set.Object.GetGeneration(), Mode: v1alpha1.Steer,
		From: o.From, To: o.To, Result: string(o.Result), Message: bounded.Short(message), Written: o.Written, Unsteerable: o.UnsteerableCount, Pods: []pod{}, Rules: map[string]int{},
	}
	if o.Result == steer.Observed {
		d.Mode = v1alpha1.Observe
	}
	if o.Policy != nil {
		d.Policy = o.Policy.Name
	}
	if len(pods) > 0 {
		d.Next, d.Rules = next, rules
	}
	d.Pods = append(d.Pods, pods[:min(len(pods), bounded.RecordPods)]...)
	for _, count := range d.Rules {
		d.More += count
	}
	d.More -= len(d.Pods)
	return d
}

const (
	// named is how many pods an event names.
	named = 10
	// least is how many bytes it has for them at least, whatever else it says.
	least = bounded.NoteBytes / 2
)

// withPods is a text about so many pods, of which it names as many as there is room for between its head and its tail.
func withPods(head string, pods []pod, count int, tail string) string {
	if len(pods) == 0 {
		return head + tail
	}
	var texts []string
	for _, pod := range pods[:min(len(pods), named)] {
		rule := pod.Rule
		if pod.Value != nil {
			rule += " " + strconv.FormatFloat(*pod.Value, 'g', -1, 64)
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", pod.Name, rule))
	}
	room := max(bounded.NoteBytes-len(head)-len(tail), least) - len(": ")
	for len(some(texts, count)) > room && len(texts) > 1 {
		texts = texts[:len(texts)-1]
	}
	return bounded.Short(head + ": " + some(texts, count) + tail)
}

// describeValues says how many values counted, or why none did.
func describeValues(v *values.Order) string {
	switch {
	case v == nil || v.Pods == 0 && v.Why == nil:
		return ""
	case v.Why != nil:
		return fmt.Sprintf("; no value counted: %v", v.Why)
	}
	return fmt.Sprintf("; counted the values of %d of %s", v.Valued, count(v.Pods, "pod"))
}
