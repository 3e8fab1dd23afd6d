package report

import (
	"fmt"
	"strconv"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// What became of pods that nobody steered, in place of a rule.
const (
	// chance: Kubernetes may as well have taken another one.
	chance = "chance"
	// certain: the pod goes in any case, though by no single rule.
	certain = "certain"
	// unpredicted: the prediction was wrong.
	unpredicted = "unpredicted"
)

// plain are the words for rules that need no number. Those of Kubernetes have podrank's names.
var plain = map[string]string{
	"unassigned": "unassigned", "not-ready": "not ready", "ready-time": "ready for less time",
	"creation-time": "younger", "uid": "UID",
	decide.Spread: "spread", decide.EmptiesNode: "empties its node", steer.NotAvailable: "not available",
	chance: "by chance", certain: "certain", unpredicted: "not predicted",
}

// word says by which rule a pod goes, with the pod's value only if it may be published.
func (r *Reporter) word(why steer.Why) string {
	switch why.Rule {
	case "phase":
		if why.Of == 0 {
			return "pending"
		}
		return "unknown phase"
	case "deletion-cost":
		return fmt.Sprintf("cost %d", why.Of)
	case "rank":
		return count(int(why.Of), "related pod") + " on its node"
	case "restarts":
		return count(int(why.Of), "restart")
	case "sidecar-restarts":
		return count(int(why.Of), "sidecar restart")
	case steer.ByValue:
		if r.PublishValues && why.Value != nil {
			return "value " + strconv.FormatFloat(*why.Value, 'g', -1, 64)
		}
	}
	if word, ok := plain[why.Rule]; ok {
		return word
	}
	return why.Rule
}

const (
	// named is how many pods an event names.
	named = 10
	// least is how many bytes it has for them at least, whatever else it says.
	least = bounded.NoteBytes / 2
)

// withPods is a text about so many pods, of which it names as many as there is room for between its head and its tail.
func (r *Reporter) withPods(head string, pods []going, count int, tail string) string {
	if len(pods) == 0 {
		return head + tail
	}
	var texts []string
	for _, pod := range pods[:min(len(pods), named)] {
		texts = append(texts, fmt.Sprintf("%s (%s)", pod.name, r.word(pod.why)))
	}
	room := max(bounded.NoteBytes-len(head)-len(tail), least) - len(": ")
	for len(some(texts, count)) > room && len(texts) > 1 {
		texts = texts[:len(texts)-1]
	}
	return bounded.Short(head + ": " + some(texts, count) + tail)
}
