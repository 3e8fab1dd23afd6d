package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
)

// Users of podrank, whom the audit log distinguishes from other users.
const (
	user  = "podrank-user"
	rival = "rival-user"
)

// protocolRounds plans a round with disturbances drawn at prompts, writes and waits.
func protocolRounds(number int) plan {
	p := plan{options: scene.WorkloadOptions{Steerable: true}, most: 12, play: (*game).protocol}
	if first, _ := firstOf(number); first == rollout {
		p.options.Kind = "deployment"
	}
	return p
}

// protocol plays a round in which several things are drawn to happen at prompts, writes and waits.
func (g *game) protocol() {
	g.c.Keep = false
	drawn := draw(g.r, g.line.Round, g.workload.IsDeployment())
	for _, one := range drawn {
		g.c.Force = g.c.Force && one.name != otherCost // it would write over that, too
		g.line.Disturbances = append(g.line.Disturbances, one.String())
	}
	g.main = g.drawLaunch(user, drawn)
	lacks := slices.IndexFunc(drawn, func(one drawnDisturbance) bool { return one.where == fromTheStart })
	if lacks >= 0 {
		drawn[lacks].do(g)
	}
	changing := g.change(drawn)
	usable := g.play(g.main, drawn)
	changing()
	g.noteSignals(drawn)
	g.waiting.Wait()
	must.Do(errors.Join(g.failed...))
	if usable {
		g.conclude()
	}
}

// change lets pods and counts change all the time if that is drawn, until the returned function is called.
func (g *game) change(drawn []drawnDisturbance) (stop func()) {
	ctx, cancel := context.WithCancel(g.ctx)
	done := make(chan struct{})
	if !slices.ContainsFunc(drawn, func(one drawnDisturbance) bool { return one.where == allTheTime }) {
		close(done)
	} else {
		go func() {
			defer close(done)
			for g.line.Round%3 > 0 && !g.isLocked() && ctx.Err() == nil { // else it may refuse before it has begun
				time.Sleep(20 * time.Millisecond)
			}
			for ctx.Err() == nil {
				g.attempt(func() { changes[g.intN(len(changes))].do(g) })
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(200+g.intN(1800)) * time.Millisecond):
				}
			}
		}()
	}
	return func() { cancel(); <-done }
}

// isLocked says whether the run has asked for its Lease.
func (g *game) isLocked() bool {
	return slices.ContainsFunc(g.main.calls.List(), func(call fault.Call) bool { return call.Kind == fault.Create })
}

// attempt does something, and notes an error.
func (g *game) attempt(do func()) {
	if err := must.Try(do); err != nil {
		g.mutex.Lock()
		defer g.mutex.Unlock()
		g.failed = append(g.failed, err)
	}
}

func (g *game) intN(n int) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.r.IntN(n)
}

// play runs the launch, lets happen what is drawn, and says whether there is something to judge.
func (g *game) play(l *launch, drawn []drawnDisturbance) bool {
	var faults []fault.Fault
	ended := make(chan struct{})
	var hooks sync.WaitGroup
	for _, one := range drawn {
		if one.where.kind == "" {
			continue
		}
		i := len(faults)
		faults = append(faults, one.fault())
		if one.signal == "" {
			hooks.Go(func() { g.hook(l, i, one, ended) })
		}
	}
	err := g.run(l, faults, drawn)
	close(ended)
	hooks.Wait()
	return g.isUsable(l.ran, err)
}

// hook waits until the call is reached, lets something happen, and lets the call go on.
func (g *game) hook(l *launch, i int, one drawnDisturbance, ended <-chan struct{}) {
	defer l.calls.Release(i)
	for !l.calls.Reached(i) {
		select {
		case <-ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	g.attempt(func() { one.do(g) })
	g.happened(one)
}

// happened notes that a disturbance took place.
func (g *game) happened(one drawnDisturbance) {
	if one.name == lostRight { // it says itself which
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.line.Happened = append(g.line.Happened, one.String())
}

// noteSignals notes what happened without a hook.
func (g *game) noteSignals(drawn []drawnDisturbance) {
	calls := map[fault.Kind]int{}
	for _, call := range g.main.calls.List() {
		calls[call.Kind]++
	}
	for _, one := range drawn {
		if one.where == fromTheStart || one.where == allTheTime || one.signal != "" && one.where.kind != "" && calls[one.where.kind] >= one.where.n {
			g.happened(one)
		}
	}
}

// conclude judges all runs of the round, and removes what killed ones left.
func (g *game) conclude() {
	wrong := g.judgeRuns()
	r := described
	if len(g.line.Happened) == 0 {
		r = unreached
	}
	if slices.ContainsFunc(g.runs(), func(l *launch) bool { return l.ran.Exit == 4 || l.ran.Signal == syscall.SIGKILL }) {
		r = undone
		wrong = append(wrong, g.undoAll()...)
	} else {
		wrong = append(wrong, g.restored())
	}
	g.is(r, wrong...)
}

// judgeRuns holds what the runs did and said against the audit log.
func (g *game) judgeRuns() []error {
	g.workload.SettleDown(g.ctx)
	world, runs := g.world(), g.runs()
	g.story["world"] = world
	for _, l := range runs {
		g.story[l.user] = map[string]any{"command": l.command, "at a terminal": l.prompted, "ran": l.ran, "ended": l.ended, "calls": l.calls.List()}
	}
	seen, wrong := g.seen(runs)
	g.line.Message = strings.Join(strings.Fields(seen[0].Said), " ")
	taken, unconfirmed := world.Take(seen)
	g.line.Taken = taken
	wrong = append(wrong, unconfirmed...)
	for _, run := range seen {
		if err := world.Told(run); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", run.User, err))
		}
	}
	return wrong
}

// undo runs `undo`, which must end with this exit status, and says what is wrong.
func (g *game) undo(force bool, exit int) (wrong []error) {
	ctx, stop := context.WithTimeout(g.ctx, g.bound)
	defer stop()
	arguments := []string{"undo", g.workload.Target, "-n", g.workload.Namespace}
	if force {
		arguments = append(arguments, "--force")
	}
	ran, err := g.Podrank.Run(ctx, nil, nil, arguments...)
	g.story["undo"] = ran
	if err != nil {
		return []error{err}
	}
	if ran.Exit != exit {
		return []error{fmt.Errorf("%v exits with %d, not %d: %s", arguments, ran.Exit, exit, lastLine(ran.Stderr))}
	}
	return nil
}

// undoAll runs `undo --force`, after which nothing of podrank may be left.
func (g *game) undoAll() []error {
	wrong := g.undo(true, 0)
	g.workload.SettleDown(g.ctx)
	return append(wrong, g.restored())
}

// runs are all that were started.
func (g *game) runs() []*launch {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return append([]*launch{g.main}, g.rivals...)
}
