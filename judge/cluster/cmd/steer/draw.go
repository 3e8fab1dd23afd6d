package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
)

// place is where something happens: at a prompt, or at a call of kubectl.
type place struct {
	prompt int        // from 1; none if 0
	kind   fault.Kind // of the call; none if empty
	n      int        // of the calls of this kind
	when   string
}

var fromTheStart, allTheTime = place{n: -1}, place{n: -2}

func (p place) String() string {
	switch {
	case p == fromTheStart:
		return "from the start"
	case p == allTheTime:
		return "all the time"
	case p.prompt > 0:
		return fmt.Sprintf("at prompt %d", p.prompt)
	}
	return fmt.Sprintf("%s %s %d", p.when, p.kind, p.n)
}

// places are those at which a run waits or writes, and some of its readings.
var places = []place{
	{prompt: 1}, {prompt: 2},
	{kind: fault.Create, n: 1, when: fault.Before}, {kind: fault.Create, n: 1, when: fault.After},
	{kind: fault.Write, n: 1, when: fault.Before}, {kind: fault.Write, n: 1, when: fault.After},
	{kind: fault.Barrier, n: 1, when: fault.Before}, {kind: fault.Barrier, n: 1, when: fault.After},
	{kind: fault.Watch, n: 1, when: fault.Before}, {kind: fault.Remove, n: 1, when: fault.After},
	{kind: fault.Count, n: 1, when: fault.Before}, {kind: fault.Count, n: 1, when: fault.After},
	{kind: fault.Look, n: 1, when: fault.Before}, {kind: fault.Look, n: 3, when: fault.Before}, {kind: fault.Look, n: 6, when: fault.After},
	{kind: fault.Write, n: 2, when: fault.Before}, {kind: fault.Read, n: 6, when: fault.After}, {kind: fault.Read, n: 9, when: fault.After},
	{kind: fault.Remove, n: 1, when: fault.Before}, {kind: fault.Lock, n: 2, when: fault.Before},
}

// happening is something that disturbs a run.
type happening struct {
	name   string
	signal string // that the run gets, or how a call fails; none if empty
	do     func(*game)
}

const rollout, lostRight, otherCost = "a rollout begins", "a right is lost", "another gives a cost"

// changes are what can also happen all the time.
var changes = []happening{
	{"a pod turns unready", "", func(g *game) {
		if pod := g.pick(g.workload.Active()); pod != "" {
			g.as("kubelet-user").SetReady(g.ctx, pod, false)
		}
	}},
	{"a pod turns ready", "", func(g *game) {
		if pod := g.pick(g.workload.Unready()); pod != "" {
			g.as("kubelet-user").SetReady(g.ctx, pod, true)
		}
	}},
	{"a pod is deleted", "", func(g *game) {
		if pod := g.pick(g.workload.Active()); pod != "" {
			g.as("somebody").Remove(g.ctx, pod)
		}
	}},
	{"an autoscaler scales up", "", func(g *game) { g.as("autoscaler").ScaleBy(g.ctx, int32(1+g.intN(2))) }},
	{"an autoscaler scales down", "", func(g *game) { g.as("autoscaler").ScaleBy(g.ctx, -int32(1+g.intN(2))) }},
}

// happenings are all that can be drawn.
var happenings = append(slices.Clone(changes),
	happening{"another run", "", (*game).startRival},
	happening{rollout, "", func(g *game) {
		if g.workload.IsDeployment() {
			g.as("somebody").Roll(g.ctx)
		}
	}},
	happening{lostRight, "", func(g *game) {
		names := []string{"patch pods", "scale", "create sets", "create pods", "delete sets", "create leases", "delete leases"}
		name := g.pick(names)
		g.happened(drawnDisturbance{happening: happening{name: lostRight + ": " + name}})
		grant(g.ctx, g.Plane, g.workload.Namespace, user, name)
	}},
	happening{"SIGKILL", fault.Kill, nil},
	happening{"SIGINT", fault.Interrupt, nil},
	happening{"SIGTERM", fault.Terminate, nil},
	happening{"a call fails", fault.FailUndone, nil},
	happening{"an answer is lost", fault.FailDone, nil},
	happening{otherCost, "", (*game).giveCost},
)

// giveCost gives a pod another's deletion cost. If the API server does not say whose it is, the value was there already.
func (g *game) giveCost() {
	pod := g.pick(g.workload.Active())
	if pod == "" {
		return
	}
	cost := fmt.Sprint(g.intN(3) - 1)
	isTheirs, err := g.as("somebody").SetCost(g.ctx, pod, cost, g.intN(2) == 0)
	must.Do(control.IgnoreNotFound(err))
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if isTheirs {
		g.costs[pod] = cost
	}
}

// as is the workload in the hands of somebody.
func (g *game) as(who string) *scene.Workload { return g.workload.By(g.others[who]) }

// drawnDisturbance is something that happens somewhere.
type drawnDisturbance struct {
	happening
	where place
}

func (d drawnDisturbance) String() string {
	if d.where == (place{}) {
		return d.name
	}
	return d.name + ", " + d.where.String()
}

// fault is what the stand-in for kubectl has to do.
func (d drawnDisturbance) fault() fault.Fault {
	f := fault.Fault{N: d.where.n, Kind: d.where.kind, What: fault.Hook, When: d.where.when}
	if d.signal != "" {
		f.What = d.signal
	}
	return f
}

// firstOf returns the disturbance that a round has in any case, and where. Over the rounds, each disturbance occurs in
// all places.
func firstOf(number int) (name string, where place) {
	i, turn := number-1, len(happenings)+1
	switch {
	case i%turn == turn-1:
		return "", allTheTime
	case i%(3*turn) == 7:
		return lostRight, fromTheStart
	}
	return happenings[i%turn].name, places[(i/turn*8+i)%len(places)]
}

// draw draws what happens in a round: one thing by the round's number, and up to two more by chance.
func draw(r *rand.Rand, number int, isDeployment bool) (drawn []drawnDisturbance) {
	name, where := firstOf(number)
	if where == allTheTime {
		return []drawnDisturbance{{happening{name: "pods and counts change"}, where}}
	}
	find := func(name string) happening {
		return happenings[slices.IndexFunc(happenings, func(h happening) bool { return h.name == name })]
	}
	drawn = append(drawn, drawnDisturbance{find(name), where})
	for range r.IntN(3) {
		one := drawnDisturbance{happenings[r.IntN(len(happenings))], places[r.IntN(len(places))]}
		isTaken := slices.ContainsFunc(drawn, func(other drawnDisturbance) bool {
			return other.where == one.where || other.name == one.name || other.signal != "" && one.signal != ""
		})
		if !isTaken && (isDeployment || one.name != rollout) {
			drawn = append(drawn, one)
		}
	}
	for i, one := range drawn { // at a prompt, there is no call to fail
		if one.where.prompt > 0 && (one.signal == fault.FailUndone || one.signal == fault.FailDone) {
			drawn[i].where = places[4]
		}
	}
	return drawn
}

// others are the users who disturb runs.
func others(plane *control.Plane) map[string]*control.Plane {
	planes := map[string]*control.Plane{}
	for _, who := range []string{"kubelet-user", "somebody", "autoscaler"} {
		planes[who] = plane.As(who)
	}
	return planes
}

// pick draws one of these, or none of none.
func (g *game) pick(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[g.intN(len(of))]
}
