package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// schema is the form of a decision. docs/decisions.md describes it: fields may be added, and none changes its meaning.
const schema = "podrank.dev/decision/v1"

// A decision is a line of the log of decisions. It has nothing of who asked.
type decision struct {
	Schema    string         `json:"schema"`
	Time      string         `json:"time"`
	Request   types.UID      `json:"request"`
	Kind      string         `json:"kind"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	UID       types.UID      `json:"uid"`
	From      int32          `json:"from"`
	To        int32          `json:"to"`
	Result    string         `json:"result"`
	Policy    string         `json:"policy,omitempty"`
	Message   string         `json:"message,omitempty"`
	Written   int            `json:"written"`
	Next      string         `json:"next,omitempty"`
	Pods      []recorded     `json:"pods"`
	More      int            `json:"more,omitempty"`
	Rules     map[string]int `json:"rules"`
}

// recorded is a pod of a decision.
type recorded struct {
	Name  string    `json:"name"`
	UID   types.UID `json:"uid"`
	Rule  string    `json:"rule"`
	Why   string    `json:"why"`
	Odds  *float64  `json:"odds,omitempty"`
	Value *float64  `json:"value,omitempty"`
}

// A going pod is one that goes or has gone, and why. Its odds are there if chance decided.
type going struct {
	name string
	uid  types.UID
	why  steer.Why
	odds *float64
}

// wanted are the pods that should go.
func wanted(o *steer.Outcome) (pods []going) {
	if !o.Result.Holds() {
		return nil
	}
	for i, pod := range o.Wanted {
		pods = append(pods, going{name: pod.Key.Name, uid: pod.UID, why: o.Whys[i]})
	}
	return pods
}

// gone are the pods that nobody steered and that went, those first that certainly did.
func gone(o *steer.Outcome, c steer.Comparison) (pods []going) {
	odds := map[types.UID]*float64{}
	for _, chance := range o.Prediction.Chances {
		odds[chance.Pod] = &chance.Share
	}
	for uid, name := range c.Gone {
		pod := going{name, uid, steer.Why{Rule: unpredicted}, nil}
		why, isCertain := o.Prediction.Whys[uid]
		switch {
		case isCertain:
			pod.why = steer.Why{Rule: cmp.Or(why.Rule, certain), Of: why.Of}
		case o.Prediction.Possible[uid]:
			pod.why.Rule, pod.odds = chance, odds[uid]
		}
		pods = append(pods, pod)
	}
	last := func(pod going) int { return map[string]int{chance: 1, unpredicted: 2}[pod.why.Rule] }
	slices.SortFunc(pods, func(a, b going) int { return cmp.Or(cmp.Compare(last(a), last(b)), strings.Compare(a.name, b.name)) })
	return pods
}

// record writes a line about a decision, if that is wanted.
func (r *Reporter) record(o *steer.Outcome, result, message, next string, pods []going, rules map[string]int) {
	if r.Decisions == nil {
		return
	}
	d := decision{
		Schema: schema, Time: o.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Request: o.UID,
		Kind: string(o.Kind), Namespace: o.Key.Namespace, Name: o.Key.Name, UID: setOf(o).UID(), From: o.From, To: o.To,
		Result: result, Message: bounded.Short(message), Written: o.Written, Pods: []recorded{}, Rules: map[string]int{},
	}
	if o.Policy != nil {
		d.Policy = o.Policy.Name
	}
	if len(pods) > 0 {
		d.Next, d.Rules = next, rules
	}
	for _, pod := range pods[:min(len(pods), bounded.RecordPods)] {
		row := recorded{Name: pod.name, UID: pod.uid, Rule: pod.why.Rule, Why: r.word(pod.why), Odds: pod.odds}
		if r.PublishValues {
			row.Value = pod.why.Value
		}
		d.Pods = append(d.Pods, row)
	}
	for _, count := range d.Rules {
		d.More += count
	}
	d.More -= len(d.Pods)
	if err := r.write(&d); err != nil {
		r.Log.Error(err, "cannot write a decision")
	}
}

// write writes a line in one piece.
func (r *Reporter) write(d *decision) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return err
	}
	r.recording.Lock()
	defer r.recording.Unlock()
	_, err := r.Decisions.Write(line.Bytes())
	return err
}
