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

// calls is how many calls of kubectl a run makes at most, about: faults are spread over them.
const calls = 20

// feasible are rounds that would go well if nothing happened.
var feasible = scene.WorkloadOptions{Steerable: true}

// interrupts plays a round that a signal or a failed call interrupts.
func (s *steer) interrupts(ctx context.Context, number int, l *line) (err error) {
	g, end, err := s.begin(ctx, number, l, feasible, wish.Limits{OnlyFeasible: true, Evictions: true, Most: 20})
	if err != nil {
		return err
	}
	defer end(&err)
	g.c.Keep = false
	f := faults[(number-1)%len(faults)]
	f.N = 1 + (number-1)/len(faults)%calls
	l.Fault = f.String()
	noted := fault.Calls{Dir: g.dir}
	environment, err := noted.Environment(f)
	if err != nil {
		return err
	}
	if err := g.podrankIt(ctx, environment, "--yes"); err != nil {
		return g.unusable(ctx, err)
	}
	made, err := noted.List()
	if err != nil {
		return err
	}
	l.Calls = len(made)
	if l.Calls >= f.N {
		l.Fault += " (" + firstWord(made[f.N-1].Arguments) + ")"
	}
	settle := g.r.IntN(2) == 0 // before undo, not after it
	if settle {
		if err := g.workload.Settled(ctx); err != nil {
			return err
		}
	}
	if g.ran.Signal == syscall.SIGKILL || g.ran.Exit == 4 {
		return g.undo(ctx, nil)
	}
	if err := g.workload.Settled(ctx); err != nil {
		return err
	}
	run, err := g.steering(ctx)
	if err != nil {
		return err
	}
	switch {
	case l.Calls < f.N:
		r, err := g.judge(run)
		g.is(r, err)
		if r == took || r == refused {
			g.is(unreached, nil)
		}
	case g.ran.Signal != 0: // nothing has to be put back as long as nothing is written
		if err := run.Untouched(); err != nil {
			g.is(wrong, fmt.Errorf("the signal %s ended it: %w", g.ran.Signal, err))
		} else {
			g.is(described, nil)
		}
	default:
		g.isDescribed(run)
	}
	return nil
}

func firstWord(text string) string {
	var word string
	_, _ = fmt.Sscan(text, &word) // empty if there is none
	return word
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
func (g *game) undo(ctx context.Context, costs map[types.UID]string) error {
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	ran, err := g.podrank.Run(ctx, nil, "", "undo", g.workload.Target, "-n", g.workload.Namespace)
	if err != nil {
		return g.unusable(ctx, err)
	}
	g.line.Undo = &ran.Exit
	if err := g.workload.Settled(ctx); err != nil {
		return err
	}
	run, err := g.steering(ctx)
	if err != nil {
		return err
	}
	run.Costs = costs
	if err := run.Restored(); err != nil || ran.Exit != 0 {
		g.is(wrong, errors.Join(fmt.Errorf("undo exits with %d: %s", ran.Exit, lastLine(ran.Stderr)), err))
		return nil
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
	return nil
}

// disturbance is what happens to a workload while podrank works.
type disturbance struct {
	name string
	do   func(context.Context, *game, *verdict.Steering) error // at one call of kubectl; nil if it is none
}

// These happen at one call.
var atOneCall = []disturbance{
	{"a rollout starts", func(ctx context.Context, g *game, run *verdict.Steering) error {
		run.Rollout = true
		return g.workload.Roll(ctx)
	}},
	{"a pod turns unready", func(ctx context.Context, g *game, run *verdict.Steering) error {
		pod := g.anyPod()
		run.Unready = pod.UID
		return g.workload.SetReady(ctx, pod.Name, corev1.ConditionFalse)
	}},
	{"a pod is deleted", func(ctx context.Context, g *game, run *verdict.Steering) error {
		pod := g.anyPod()
		run.Removed[pod.UID] = true
		return g.workload.Remove(ctx, pod.Name)
	}},
	{"a pod is adopted", func(ctx context.Context, g *game, _ *verdict.Steering) error {
		return g.workload.Adopt(ctx)
	}},
	{"another scales up", func(ctx context.Context, g *game, run *verdict.Steering) error {
		run.Rescaled = true
		return g.workload.Scale(ctx, int32(len(g.c.Pods)+1+g.r.IntN(3)))
	}},
	{"another scales down", func(ctx context.Context, g *game, run *verdict.Steering) error {
		run.Rescaled = true
		return g.workload.Scale(ctx, int32(g.r.IntN(len(g.c.Pods))))
	}},
}

// anyPod is a pod of the workload, as likely one that must go as another.
func (g *game) anyPod() *wish.Pod { return &g.c.Pods[g.r.IntN(len(g.c.Pods))] }

// disturbances plays a round in which others act meanwhile.
func (s *steer) disturbances(ctx context.Context, number int, l *line) error {
	const kinds = 10
	switch kind := (number - 1) % kinds; {
	case kind < len(atOneCall):
		return s.disturbed(ctx, number, l, &atOneCall[kind])
	case kind == 6 && number > kinds*5 && number < kinds*6, kind == 6 && number < kinds:
		return s.many(ctx, number, l)
	case kind <= 7:
		return s.quarrel(ctx, number, l)
	default:
		return s.forbidden(ctx, number, l, forbidden[(number-1)/kinds%len(forbidden)])
	}
}

// disturbed lets something happen at one of the calls of kubectl.
func (s *steer) disturbed(ctx context.Context, number int, l *line, d *disturbance) (err error) {
	options := feasible
	if d.name == "a rollout starts" {
		options.Kind = "deployment"
	}
	g, end, err := s.begin(ctx, number, l, options, wish.Limits{OnlyFeasible: true, Most: 20})
	if err != nil {
		return err
	}
	defer end(&err)
	g.c.Keep = false
	f := fault.Fault{N: 2 + g.r.IntN(calls/2), What: fault.Hook}
	l.Fault = d.name
	noted := fault.Calls{Dir: g.dir}
	environment, err := noted.Environment(f)
	if err != nil {
		return err
	}
	run := &verdict.Steering{Removed: map[types.UID]bool{}}
	happened, ended := make(chan error, 1), make(chan struct{})
	go func() {
		for !noted.Reached(f.N) {
			select {
			case <-ended:
				happened <- errUnreached
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		happened <- errors.Join(d.do(ctx, g, run), noted.Release(f.N))
	}()
	failed := g.podrankIt(ctx, environment, "--yes")
	close(ended)
	happening := <-happened
	if failed != nil {
		return g.unusable(ctx, failed)
	}
	if happening != nil && !errors.Is(happening, errUnreached) {
		return happening
	}
	made, err := noted.List()
	if err != nil {
		return err
	}
	l.Calls = len(made)
	if err := g.workload.Quiet(ctx); err != nil {
		return err
	}
	if g.ran.Exit == 4 {
		return g.undo(ctx, nil)
	}
	now, err := g.steering(ctx)
	if err != nil {
		return err
	}
	now.Removed, now.Rollout, now.Rescaled = run.Removed, run.Rollout, run.Rescaled
	if g.c.Also && !g.expect.Must[run.Unready] && now.Document != nil && slices.Contains(now.Document.Wanted(), run.Unready) {
		now.To-- // --also takes it, too
	}
	if errors.Is(happening, errUnreached) {
		r, err := g.judge(now)
		g.is(r, err)
		if r == took || r == refused {
			g.is(unreached, nil)
		}
		return nil
	}
	l.Fault = fmt.Sprintf("%s at call %d (%s)", d.name, f.N, firstWord(made[f.N-1].Arguments))
	g.isDescribed(now)
	return nil
}

var errUnreached = errors.New("that call was not made")

// quarrel lets another writer give costs to the same pods all the time.
func (s *steer) quarrel(ctx context.Context, number int, l *line) (err error) {
	g, end, err := s.begin(ctx, number, l, feasible, wish.Limits{OnlyFeasible: true, Most: 20})
	if err != nil {
		return err
	}
	defer end(&err)
	g.c.Keep, g.c.Force = false, false
	costs := map[types.UID]string{}
	writing, stop := context.WithCancel(ctx)
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
	failed := g.podrankIt(ctx, nil, "--yes")
	stop()
	<-done
	if failed != nil {
		return g.unusable(ctx, failed)
	}
	if err := g.workload.Quiet(ctx); err != nil {
		return err
	}
	if g.ran.Exit == 4 {
		return g.undo(ctx, costs)
	}
	run, err := g.steering(ctx)
	if err != nil {
		return err
	}
	run.Costs = costs
	l.Fault = "another writer"
	g.isDescribed(run)
	return nil
}

// many takes 600 pods: more than one sync of the controller.
func (s *steer) many(ctx context.Context, number int, l *line) (err error) {
	options := feasible
	options.Size, options.Own, options.Ready = 620, true, true
	g, end, err := s.begin(ctx, number, l, options, wish.Limits{OnlyFeasible: true})
	if err != nil {
		return err
	}
	defer end(&err)
	*g.c = wish.Case{Target: g.c.Target, Pods: g.c.Pods, NodeLoad: g.c.NodeLoad, To: 20,
		Wishes: []wish.Wish{{Flag: "--prefer-pods", Value: "!" + wish.Draining}, {Flag: "--prefer-nodes", Value: wish.Lifecycle + "=spot"}}}
	g.expect = g.c.Expect()
	l.Expect, l.Why, l.Delete = string(g.expect.Verdict), g.expect.Why, g.expect.Delete
	if err := g.podrankIt(ctx, nil, "--yes", "--timeout", "10m"); err != nil {
		return g.unusable(ctx, err)
	}
	if err := g.workload.Settled(ctx); err != nil {
		return err
	}
	run, err := g.steering(ctx)
	if err != nil {
		return err
	}
	l.Fault = "600 deletions"
	g.is(g.judge(run))
	return nil
}

// forbidden plays a round of a user who may not do something.
func (s *steer) forbidden(ctx context.Context, number int, l *line, user string) (err error) {
	g, end, err := s.begin(ctx, number, l, feasible, wish.Limits{OnlyFeasible: true, Most: 20})
	if err != nil {
		return err
	}
	defer end(&err)
	g.c.Keep = false
	if err := g.podrankIt(ctx, nil, "--yes", "--as", user); err != nil {
		return g.unusable(ctx, err)
	}
	if err := g.workload.Settled(ctx); err != nil {
		return err
	}
	run, err := g.steering(ctx)
	if err != nil {
		return err
	}
	l.Fault = user
	if g.ran.Exit != 1 && (g.ran.Exit != 0 || user == noScale) {
		g.is(wrong, fmt.Errorf("exit status %d", g.ran.Exit))
		return nil
	}
	if g.ran.Exit == 1 {
		if err := run.Untouched(); err != nil {
			g.is(wrong, err)
			return nil
		}
	}
	g.isDescribed(run) // 0 if the costs were in order as they were
	return nil
}
