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
func (d *disturbedRound) startRival() {
	active := d.workload.Active()
	if len(active) < 3 {
		return
	}
	l := d.launch(rival, "scale", d.workload.Target, "--replicas", "-1")
	l.json = d.intN(2) == 0
	if d.intN(3) > 0 {
		l.command = []string{"drop", d.pick(active)}
	}
	d.mutex.Lock()
	isFirst := len(d.rivals) == 0
	if isFirst {
		d.rivals = append(d.rivals, l)
	}
	d.mutex.Unlock()
	if isFirst {
		d.waiting.Go(func() { d.attempt(func() { must.Do(d.run(l, []fault.Fault{}, nil)) }) })
	}
}

// world reads from the audit log what happened in the round.
func (d *disturbedRound) world() *verdict.World {
	w := &verdict.World{Count: d.before.Count, Before: map[string]bool{}, Made: map[string]time.Time{}, Occupied: d.workload.Nodes()}
	for _, pod := range d.before.Pods {
		w.Before[pod.Name] = true
	}
	resource, name := d.workload.Resource()
	for _, event := range d.audit.Of(d.workload.Namespace) {
		switch base, _, _ := strings.Cut(event.Resource, "/"); {
		case event.Began.Before(d.since) || strings.HasPrefix(event.Name, "podrank-"):
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
	if to, ok := event.Replicas(); ok && to != now {
		w.Counts = append(w.Counts, verdict.Counted{By: event.User, From: now, To: to, At: event.Began})
	}
	if event.ChangesTemplate() && w.Rolled.IsZero() {
		w.Rolled = event.Began
	}
}
