package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
	"github.com/podrank/podrank/judge/cluster/internal/wish"
)

// faults are what rounds of interrupts go through, one after the other, for each call of kubectl.
var faults = []fault.Fault{
	{What: fault.Interrupt, When: fault.Before}, {What: fault.Interrupt, When: fault.During},
	{What: fault.Interrupt, When: fault.After},
	{What: fault.Terminate, When: fault.Before}, {What: fault.Terminate, When: fault.During},
	{What: fault.Terminate, When: fault.After},
	{What: fault.Kill, When: fault.Before}, {What: fault.Kill, When: fault.During}, {What: fault.Kill, When: fault.After},
	{What: fault.InterruptAll, When: fault.During},
	{What: fault.FailUndone}, {What: fault.FailDone},
}

// kinds is how many kinds of disturbances there are.
const kinds = 10

// calls is how many calls of kubectl a run makes at most, about: faults are spread over them.
const calls = 20

// feasible are rounds that would go well if nothing happened.
var feasible = scene.WorkloadOptions{Steerable: true}

// interrupts plays a round that a signal or a failed call interrupts.
func (g *game) interrupts(ctx context.Context) {
	g.c.Keep = false
	number := g.line.Round
	f := faults[(number-1)%len(faults)]
	f.N = 1 + (number-1)/len(faults)%calls
	g.line.Fault = f.String()
	noted := fault.Calls{Dir: g.dir}
	if !g.podrankIt(ctx, noted.Environment(f), "--yes") {
		return
	}
	made := noted.List()
	g.line.Calls = len(made)
	if len(made) >= f.N {
		g.line.Fault += " (" + firstWord(made[f.N-1].Arguments) + ")"
	}
	settle := g.r.IntN(2) == 0 // before undo, not after it
	if settle {
		g.workload.Settled(ctx)
	}
	if g.ran.Signal == syscall.SIGKILL || g.ran.Exit == 4 {
		g.undo(ctx, nil)
		return
	}
	run := g.settledSteering(ctx)
	switch {
	case len(made) < f.N:
		g.isUnreached(run)
	case g.ran.Signal != 0: // nothing has to be put back as long as nothing is written
		if err := run.Untouched(); err != nil {
			g.is(wrong, fmt.Errorf("the signal %s ended it: %w", g.ran.Signal, err))
		} else {
			g.is(described, nil)
		}
	default:
		g.isDescribed(run)
	}
}

func firstWord(text string) string {
	var word string
	_, _ = fmt.Sscan(text, &word) // empty if there is none
	return word
}

// isUnreached notes what came of a round whose disturbance could not happen.
func (g *game) isUnreached(run *verdict.Steering) {
	r, err := g.judge(run)
	g.is(r, err)
	if r == took || r == refused {
		g.is(unreached, nil)
	}
}

// isDescribed notes whether the exit status describes the state.
func (g *game) isDescribed(run *verdict.Steering) {
	if run.Document != nil && (run.Exit == 0 || run.Exit == 3) {
		less, more := run.Missed()
		g.line.Missed, g.line.Others = len(less), len(more)
	}
	if err := run.Describes(); err != nil {
		g.is(wrong, err)
		return
	}
	g.is(described, nil)
	g.line.Message = lastLine(g.ran.Stderr)
}

// undo runs `kubectl podrank undo`, after which nothing of podrank may be left.
func (g *game) undo(ctx context.Context, costs map[types.UID]string) {
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	ran, err := g.Podrank.Run(ctx, nil, "", "undo", g.workload.Target, "-n", g.workload.Namespace)
	if !g.isUsable(ctx, err) {
		return
	}
	g.line.Undo = &ran.Exit
	run := g.settledSteering(ctx)
	run.Costs = costs
	if err := run.Restored(); err != nil || ran.Exit != 0 {
		g.is(wrong, errors.Join(fmt.Errorf("undo exits with %d: %s", ran.Exit, lastLine(ran.Stderr)), err))
		return
	}
	g.is(undone, nil)
	if run.After.Count == run.To && g.c.Rest(&g.expect) == "all" {
		for uid := range g.expect.Must {
			if pod, stays := run.After.Pods[uid]; stays {
				g.line.Missed++
				g.line.Message += pod.Name + " should have gone; "
			}
		}
	}
}

// disturbance is what happens to a workload while podrank works.
type disturbance struct {
	name string
	do   func(context.Context, *game, *verdict.Steering) // at one call of kubectl
}

// These happen at one call.
var atOneCall = []disturbance{
	{aRollout, func(ctx context.Context, g *game, run *verdict.Steering) {
		run.Rollout = true
		g.workload.Roll(ctx)
	}},
	{"a pod turns unready", func(ctx context.Context, g *game, run *verdict.Steering) {
		pod := g.anyPod()
		run.Unready = pod.UID
		g.workload.SetReady(ctx, pod.Name, corev1.ConditionFalse)
	}},
	{"a pod is deleted", func(ctx context.Context, g *game, run *verdict.Steering) {
		pod := g.anyPod()
		run.Removed[pod.UID] = true
		g.workload.Remove(ctx, pod.Name)
	}},
	{"a pod is adopted", func(ctx context.Context, g *game, _ *verdict.Steering) { g.workload.Adopt(ctx) }},
	{"another scales up", func(ctx context.Context, g *game, run *verdict.Steering) {
		run.Rescaled = true
		g.workload.Scale(ctx, int32(len(g.c.Pods)+1+g.r.IntN(3)))
	}},
	{"another scales down", func(ctx context.Context, g *game, run *verdict.Steering) {
		run.Rescaled = true
		g.workload.Scale(ctx, int32(g.r.IntN(len(g.c.Pods))))
	}},
}

const aRollout = "a rollout starts"

// anyPod is a pod of the workload, as likely one that must go as another.
func (g *game) anyPod() *wish.Pod { return &g.c.Pods[g.r.IntN(len(g.c.Pods))] }

// disturbances plans a round in which others act meanwhile.
func disturbances(number int) plan {
	p := plan{options: feasible, limits: wish.Limits{OnlyFeasible: true, Most: 20}}
	switch kind := (number - 1) % kinds; {
	case kind < len(atOneCall):
		d := &atOneCall[kind]
		if d.name == aRollout {
			p.options.Kind = "deployment"
		}
		p.play = func(g *game, ctx context.Context) { g.disturbed(ctx, d) }
	case kind == 6 && number > kinds*5 && number < kinds*6, kind == 6 && number < kinds:
		p.options.Size, p.options.Own, p.options.Ready = 620, true, true
		p.limits.Most, p.play = 0, (*game).many
	case kind <= 7:
		p.play = (*game).quarrel
	default:
		p.play = (*game).forbidden
	}
	return p
}

// disturbed lets something happen at one of the calls of kubectl.
func (g *game) disturbed(ctx context.Context, d *disturbance) {
	g.c.Keep = false
	f := fault.Fault{N: 2 + g.r.IntN(calls/2), What: fault.Hook}
	g.line.Fault = d.name
	noted := fault.Calls{Dir: g.dir}
	environment := noted.Environment(f)
	run := &verdict.Steering{Removed: map[types.UID]bool{}}
	happened, ended := make(chan error, 1), make(chan struct{})
	go func() {
		for !noted.Reached(0) {
			select {
			case <-ended:
				happened <- errUnreached
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		happened <- must.Try(func() {
			defer noted.Release(0)
			d.do(ctx, g, run)
		})
	}()
	usable := g.podrankIt(ctx, environment, "--yes")
	close(ended)
	happening := <-happened
	if !usable {
		return
	}
	isReached := !errors.Is(happening, errUnreached)
	if isReached {
		must.Do(happening)
	}
	made := noted.List()
	g.line.Calls = len(made)
	g.workload.Quiet(ctx)
	if g.ran.Exit == 4 {
		g.undo(ctx, nil)
		return
	}
	now := g.steering(ctx)
	now.Removed, now.Rollout, now.Rescaled = run.Removed, run.Rollout, run.Rescaled
	if g.c.Also && !g.expect.Must[run.Unready] && now.Document != nil && slices.Contains(now.Document.Wanted(), run.Unready) {
		now.To-- // --also takes it, too
	}
	if !isReached {
		g.isUnreached(now)
		return
	}
	g.line.Fault = fmt.Sprintf("%s at call %d (%s)", d.name, f.N, firstWord(made[f.N-1].Arguments))
	g.isDescribed(now)
}

var errUnreached = errors.New("that call was not made")

// quarrel lets another writer give costs to the same pods all the time.
func (g *game) quarrel(ctx context.Context) {
	g.c.Keep, g.c.Force = false, false
	costs := map[types.UID]string{}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	apply, every := g.r.IntN(2) == 0, time.Duration(20+g.r.IntN(400))*time.Millisecond
	go func() {
		defer close(done)
		for {
			select {
			case <-writing.Done():
				return
			case <-time.After(every):
			}
			pod, cost := g.anyPod(), fmt.Sprint(g.r.IntN(3)-1)
			// The pod may be gone. If the answer is lost, so is the round: its cost is not known.
			if isTheirs, err := g.workload.SetCost(ctx, pod.Name, cost, apply); err == nil && isTheirs {
				costs[pod.UID] = cost
			}
		}
	}()
	usable := g.podrankIt(ctx, nil, "--yes")
	stop()
	<-done
	if !usable {
		return
	}
	g.workload.Quiet(ctx)
	if g.ran.Exit == 4 {
		g.undo(ctx, costs)
		return
	}
	run := g.steering(ctx)
	run.Costs = costs
	g.line.Fault = "another writer"
	g.isDescribed(run)
}

// many takes 600 pods: more than one sync of the controller.
func (g *game) many(ctx context.Context) {
	*g.c = wish.Case{Target: g.c.Target, Pods: g.c.Pods, NodeLoad: g.c.NodeLoad, To: 20,
		Wishes: []wish.Wish{{Flag: "--prefer-pods", Value: "!" + wish.Draining}, {Flag: "--prefer-nodes", Value: wish.Lifecycle + "=spot"}}}
	g.expectIt()
	if g.podrankIt(ctx, nil, "--yes", "--timeout", "10m") {
		g.line.Fault = "600 deletions"
		g.is(g.judge(g.settledSteering(ctx)))
	}
}

// forbidden plays a round of a user who may not do something.
func (g *game) forbidden(ctx context.Context) {
	g.c.Keep = false
	user := users[(g.line.Round-1)/kinds%len(users)]
	if !g.podrankIt(ctx, nil, "--yes", "--as", user) {
		return
	}
	run := g.settledSteering(ctx)
	g.line.Fault = user
	if g.ran.Exit != 1 && (g.ran.Exit != 0 || user == noScale) {
		g.is(wrong, fmt.Errorf("exit status %d", g.ran.Exit))
		return
	}
	if g.ran.Exit == 1 {
		if err := run.Untouched(); err != nil {
			g.is(wrong, err)
			return
		}
	}
	g.isDescribed(run) // 0 if the costs were in order as they were
}
