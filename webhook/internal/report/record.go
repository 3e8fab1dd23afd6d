package report

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/steer"
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
	Name        string    `json:"name"`
	UID         types.UID `json:"uid"`
	Rule        string    `json:"rule"`
	Probability *float64  `json:"probability,omitempty"`
	Value       *float64  `json:"value,omitempty"`
}

// A Selection is what the annotation of an event says of a decision.
type Selection struct {
	Version int           `json:"v"`
	Mode    v1alpha1.Mode `json:"mode"`
	From    int32         `json:"from"`
	To      int32         `json:"to"`
	Pods    []Selected    `json:"pods"`
	More    int           `json:"more,omitempty"`
}

// Selected is a pod that was selected, or was deleted without steering.
type Selected struct {
	UID  types.UID `json:"uid"`
	Rule string    `json:"rule"`
}

func (d *decision) selection() *Selection {
	s := &Selection{Version: d.Version, Mode: d.Mode, From: d.From, To: d.To, Pods: []Selected{}, More: d.More}
	for _, pod := range d.Pods {
		s.Pods = append(s.Pods, Selected{pod.UID, pod.Rule})
	}
	return s
}

// A going pod is one that is selected or was deleted, and why. Its probability is there if chance decided.
type going struct {
	name        string
	uid         types.UID
	why         steer.Why
	probability *float64
}

// wanted are the pods that were selected.
func wanted(o *steer.Outcome) (pods []going) {
	if !o.Result.Holds() {
		return nil
	}
	for i, pod := range o.Wanted {
		pods = append(pods, going{name: pod.Key.Name, uid: pod.UID, why: o.Whys[i]})
	}
	return pods
}

// gone are the pods that nobody steered and that were deleted, those first that certainly were.
func gone(o *steer.Outcome, c steer.Comparison) (pods []going) {
	shares := map[types.UID]*float64{}
	for _, chance := range o.Prediction.Chances {
		shares[chance.Pod] = &chance.Share
	}
	for uid, name := range c.Gone {
		pod := going{name, uid, steer.Why{Rule: unpredicted}, nil}
		why, isCertain := o.Prediction.Whys[uid]
		switch {
		case isCertain:
			pod.why = steer.Why{Rule: cmp.Or(why.Rule, certain), Of: why.Of}
		case o.Prediction.Possible[uid]:
			pod.why.Rule, pod.probability = chance, shares[uid]
		}
		pods = append(pods, pod)
	}
	last := func(pod going) int { return map[string]int{chance: 1, unpredicted: 2}[pod.why.Rule] }
	slices.SortFunc(pods, func(a, b going) int { return cmp.Or(cmp.Compare(last(a), last(b)), strings.Compare(a.name, b.name)) })
	return pods
}

// decided is what the log says of a decision.
func (r *Reporter) decided(o *steer.Outcome, message, next string, pods []going, rules map[string]int) *decision {
	set := setOf(o)
	d := &decision{
		Version: 1, Time: o.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Request: o.UID,
		Kind: string(o.Kind), Namespace: o.Key.Namespace, Name: o.Key.Name, UID: set.UID(), Generation: set.Object.GetGeneration(), Mode: v1alpha1.Steer,
		From: o.From, To: o.To, Message: bounded.Short(message), Written: o.Written, Unsteerable: o.Blocking(), Pods: []pod{}, Rules: map[string]int{},
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
	for _, each := range pods[:min(len(pods), bounded.RecordPods)] {
		row := pod{Name: each.name, UID: each.uid, Rule: each.why.Rule, Probability: each.probability}
		if r.PublishValues {
			row.Value = each.why.Value
		}
		d.Pods = append(d.Pods, row)
	}
	for _, count := range d.Rules {
		d.More += count
	}
	d.More -= len(d.Pods)
	return d
}
