package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
)

// leaseTime is how long the Lease of a run lasts with --timeout 10s.
const leaseTime = 80 * time.Second

// leaseTrials are what rounds of the Lease go through, one after the other.
var leaseTrials = []struct {
	name string
	play func(g *game, turn int)
}{
	{"a kill and then another run", func(g *game, turn int) { g.killThen(turn, g.runAgain) }},
	{"drop X beside drop Y Z", func(g *game, _ int) { g.together(nil) }},
	{"a kill and then undo", func(g *game, turn int) { g.killThen(turn, g.undoExpired) }},
	{"drop X beside drop Y Z with clocks an hour apart", func(g *game, _ int) { g.withOtherClock() }},
	{"a kill and then undo --force", func(g *game, turn int) { g.killThen(turn, func(bool) []error { return g.undo(true, 0) }) }},
	{"without a right to Leases", (*game).withoutALeaseRight},
}

// killedAt are the steps of a run at which it is killed.
var killedAt = slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.kind == "" })

// leaseRounds plans a round about the Lease.
func leaseRounds(number int) plan {
	options := scene.WorkloadOptions{Steerable: true, Size: 8, Ready: true, Own: true}
	return plan{options: options, most: 4, play: func(g *game) {
		turn, trial := (number-1)/len(leaseTrials), leaseTrials[(number-1)%len(leaseTrials)]
		g.c.Keep = false
		g.line.Disturbances = []string{trial.name}
		trial.play(g, turn)
		if g.line.Result == described && strings.HasPrefix(trial.name, "a kill") && g.main.ran.Signal == 0 {
			g.is(unreached)
		}
		g.line.Happened = g.line.Disturbances
	}}
}

// dropping is a run that drops these pods.
func (g *game) dropping(user string, pods ...string) *launch {
	return g.launch(user, append([]string{"drop"}, pods...)...)
}

// killThen kills a run at a step, lets something follow, and then removes what is left.
func (g *game) killThen(turn int, follow func(isLocked bool) []error) {
	where := killedAt[turn%len(killedAt)]
	kill := drawnDisturbance{happening{name: "SIGKILL", signal: fault.Kill}, where}
	g.line.Disturbances[0] += ", " + where.String()
	g.main = g.dropping(user, g.workload.Active()[0])
	if !g.play(g.main, []drawnDisturbance{kill}) {
		return
	}
	wrong := follow(g.leasesAtRest() > 0)
	g.concludeLease(g.main.ran.Signal == syscall.SIGKILL, wrong)
}

// leasesAtRest returns the number of Leases once it no longer changes: kubectl outlives the run that was killed, and finishes its request.
func (g *game) leasesAtRest() int {
	for last := -1; ; time.Sleep(3 * time.Second) {
		now := len(g.workload.State(g.ctx).Leases)
		if now == last {
			return now
		}
		last = now
	}
}

// runAgain starts another run, which must refuse as long as there is a Lease.
func (g *game) runAgain(isLocked bool) []error {
	active := g.workload.Active()
	next := g.dropping(rival, active[len(active)-1])
	g.rivals = append(g.rivals, next)
	if !g.play(next, nil) {
		return []error{errors.New("the next run is not usable")}
	}
	if isLocked != strings.Contains(said(next.ran), "locked by another podrank run") || isLocked == (next.ran.Exit == 0) {
		return []error{fmt.Errorf("with a Lease: %v, and the next run ends with %d: %s", isLocked, next.ran.Exit, said(next.ran))}
	}
	return nil
}

// undoExpired runs `undo`, which must refuse until the Lease has expired.
func (g *game) undoExpired(isLocked bool) (wrong []error) {
	if isLocked {
		wrong = g.undo(false, 1)
		time.Sleep(leaseTime + 2*time.Second)
	}
	return append(wrong, g.undo(false, 0)...)
}

// withOtherClock starts two runs simultaneously, and the clock of one is an hour ahead or behind.
func (g *game) withOtherClock() {
	const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
	if _, err := os.Stat(library); err != nil {
		must.Do(fmt.Errorf("install the package faketime for clocks an hour apart: %w", err))
	}
	offset := []string{"+1h", "-1h"}[g.intN(2)]
	g.line.Disturbances[0] += ", " + offset
	g.together([]string{"LD_PRELOAD=" + library, "FAKETIME=" + offset, "FAKETIME_DONT_FAKE_MONOTONIC=1"})
}

// together simultaneously starts two runs on different pods of the same workload, one of them with these variables.
func (g *game) together(environment []string) {
	active := g.workload.Active()
	g.main, g.rivals = g.dropping(user, active[0]), []*launch{g.dropping(rival, active[1], active[2])}
	g.rivals[0].environment = environment
	g.waiting.Go(func() {
		time.Sleep(time.Duration(g.intN(1500)) * time.Millisecond)
		g.attempt(func() { must.Do(g.run(g.rivals[0], []fault.Fault{}, nil)) })
	})
	usable := g.play(g.main, nil)
	g.waiting.Wait()
	if err := errors.Join(g.failed...); err != nil {
		g.is(broken, err)
		return
	}
	if !usable {
		return
	}
	var wrong []error
	if !slices.ContainsFunc(g.runs(), func(l *launch) bool { return l.ran.Exit == 0 }) {
		wrong = append(wrong, errors.New("neither run finished"))
	}
	g.concludeLease(false, wrong)
}

// withoutALeaseRight takes one right away. Without it, --yes needs --no-lock.
func (g *game) withoutALeaseRight(turn int) {
	name, noLock := leaseRights[turn%len(leaseRights)], turn/len(leaseRights)%2 == 1
	grant(g.ctx, g.Plane, g.workload.Namespace, user, name)
	g.main = g.dropping(user, g.workload.Active()[0])
	g.line.Disturbances[0] += ", " + name
	if noLock {
		g.main.command = append(g.main.command, "--no-lock")
		g.line.Disturbances[0] += ", --no-lock"
	}
	if !g.play(g.main, nil) {
		return
	}
	var wrong []error
	if ran := g.main.ran; noLock == (ran.Exit != 0) {
		wrong = append(wrong, fmt.Errorf("without the right to %s: exit status %d: %s", name, ran.Exit, said(ran)))
	} else if !strings.Contains(strings.ToLower(ran.Stderr), "lock") && !strings.Contains(ran.Stderr, "ease") {
		wrong = append(wrong, fmt.Errorf("without the right to %s, it says nothing of the lock: %s", name, ran.Stderr))
	}
	g.concludeLease(false, wrong)
}

// concludeLease judges the runs, after `undo` if a killed one may have left something.
func (g *game) concludeLease(isLeft bool, wrong []error) {
	wrong = append(wrong, g.judgeRuns()...)
	if g.line.Taken.Late > 0 {
		wrong = append(wrong, errors.New("a pod went that was not confirmed"))
	}
	if isLeft {
		wrong = append(wrong, g.undoAll()...)
	} else {
		wrong = append(wrong, g.restored())
	}
	g.is(described, wrong...)
}
