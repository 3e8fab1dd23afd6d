package main

import (
	"slices"
	"strings"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/audit"
	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// startRival starts another run on the same workload: it drops a pod or two, or scales.
func (g *game) startRival() {
	active := g.workload.Active()
	if len(active) < 3 {
		return
	}
	l := g.launch(rival, "scale", g.workload.Target, "--replicas", "-1")
	l.json = true // it may plan again without a word
	if g.intN(3) > 0 {
		l.command = []string{"drop", g.pick(active)}
	}
	g.mutex.Lock()
	isFirst := len(g.rivals) == 0
	if isFirst {
		g.rivals = append(g.rivals, l)
	}
	g.mutex.Unlock()
	if isFirst {
		g.waiting.Go(func() { g.attempt(func() { must.Do(g.run(l, []fault.Fault{}, nil)) }) })
	}
}

// world reads from the audit log what happened in the round.
func (g *game) world() *verdict.World {
	own, others := g.workload.Nodes()
	w := &verdict.World{Count: g.before.Count, Before: map[string]bool{}, Made: map[string]time.Time{}, Occupied: map[string]bool{}}
	for _, nodes := range []map[string]int{own, others} {
		for node := range nodes {
			w.Occupied[node] = true
		}
	}
	for _, pod := range g.before.Pods {
		w.Before[pod.Name] = true
	}
	resource, name := g.workload.Resource()
	for _, event := range g.audit.Of(g.workload.Namespace) {
		switch base, _, _ := strings.Cut(event.Resource, "/"); {
		case event.Began.Before(g.since) || strings.HasPrefix(event.Name, "podrank-"):
		case base == "pods":
			addPod(w, &event)
		case base == resource && event.Name == name:
			addCount(w, &event)
		}
	}
	slices.SortStableFunc(w.Deleted, func(a, b verdict.Deleted) int { return a.At.Compare(b.At) })
	return w
}

// addPod notes what a request did to a pod.
func addPod(w *verdict.World, event *audit.Event) {
	isDeletion := event.Verb == "delete" || event.Resource == "pods/eviction"
	if !isDeletion {
		if event.Verb == "create" && event.Resource == "pods" {
			w.Made[event.Name] = event.Ended
		}
		w.Changes = append(w.Changes, verdict.Change{What: event.Verb + " " + event.Resource + " " + event.Name, By: event.User, At: event.Ended})
		return
	}
	isFirst := !slices.ContainsFunc(w.Deleted, func(d verdict.Deleted) bool { return d.Pod == event.Name })
	if !isFirst || strings.HasPrefix(event.Agent, "kubelet/") { // it only ends what terminates
		return
	}
	by := event.User
	if event.IsController() {
		by = verdict.Controller
	} else {
		w.Changes = append(w.Changes, verdict.Change{What: "delete " + event.Name, By: by, At: event.Ended})
	}
	w.Deleted = append(w.Deleted, verdict.Deleted{Pod: event.Name, By: by, At: event.Began})
}

// addCount notes what a request did to the workload.
func addCount(w *verdict.World, event *audit.Event) {
	now := w.Count
	if len(w.Counts) > 0 {
		now = w.Counts[len(w.Counts)-1].To
	}
	if to := event.Replicas; to != nil && *to != now {
		w.Counts = append(w.Counts, verdict.Counted{By: event.User, From: now, To: *to, At: event.Began})
	}
	if event.ChangesTemplate && w.Rolled.IsZero() {
		w.Rolled = event.Began
	}
}
