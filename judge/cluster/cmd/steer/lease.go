package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// takeover is how long a Lease without renewals keeps others out.
const takeover = 30 * time.Second

// leaseTrials are what rounds of the Lease go through, one after the other.
var leaseTrials = []struct {
	name string
	play func(d *disturbedRound, turn int)
}{
	{"a kill and then another run", func(d *disturbedRound, turn int) { d.killThen(turn, false, false) }},
	{"drop X beside drop Y Z", func(d *disturbedRound, _ int) { d.together(nil) }},
	{"a kill and then undo", func(d *disturbedRound, turn int) { d.killThen(turn, true, false) }},
	{"drop X beside drop Y Z with clocks an hour apart", func(d *disturbedRound, _ int) { d.withOtherClock() }},
	{"a kill and then undo --force", func(d *disturbedRound, turn int) { d.killThen(turn, true, true) }},
	{"without a right to Leases", (*disturbedRound).withoutALeaseRight},
}

// killedAt are the steps of a run at which it is killed.
var killedAt = []place{
	{kind: fault.Create, n: 1, when: fault.Before}, {kind: fault.Create, n: 1, when: fault.After},
	{kind: fault.Write, n: 1, when: fault.Before}, {kind: fault.Write, n: 1, when: fault.After},
	{kind: fault.Canary, n: 1, when: fault.Before}, {kind: fault.Canary, n: 1, when: fault.After},
	{kind: fault.Watch, n: 1, when: fault.During}, {kind: fault.Remove, n: 1, when: fault.After},
	{kind: fault.Count, n: 1, when: fault.Before}, {kind: fault.Count, n: 1, when: fault.After},
	{kind: fault.Look, n: 1, when: fault.After}, {kind: fault.Write, n: 2, when: fault.After},
}

// leaseRounds plans a round about the Lease.
func leaseRounds(number int) plan {
	options := feasible
	options.Size, options.Ready, options.Own = 8, true, true
	return plan{options, 4, func(g *game, ctx context.Context) {
		turn, trial := (number-1)/len(leaseTrials), leaseTrials[(number-1)%len(leaseTrials)]
		d := g.beginDisturbed(ctx)
		g.line.Disturbances = []string{trial.name}
		trial.play(d, turn)
		if d.line.Result == described && strings.HasPrefix(trial.name, "a kill") && d.main.ran.Signal == 0 {
			d.is(unreached, nil)
		}
		g.line.Happened = g.line.Disturbances
	}}
}

// dropping is a run that drops these pods.
func (d *disturbedRound) dropping(user string, pods ...string) *launch {
	return d.launch(user, append([]string{"drop"}, pods...)...)
}

// killThen kills a run at a step. Then another run of the same user takes over and finishes, or `undo` removes what is left.
func (d *disturbedRound) killThen(turn int, undo, force bool) {
	active := d.workload.Active()
	where := killedAt[turn%len(killedAt)]
	kill := drawnDisturbance{happening{name: "SIGKILL", signal: fault.Kill}, where}
	d.line.Disturbances[0] += ", " + where.String()
	d.main = d.dropping(user, active[0])
	if !d.play(d.main, []drawnDisturbance{kill}) {
		return
	}
	isLocked := len(d.workload.Leases(d.ctx)) > 0
	if undo {
		d.concludeUndo(force, isLocked)
		return
	}
	next := d.dropping(rival, active[1])
	d.rivals = append(d.rivals, next)
	if !d.play(next, nil) {
		return
	}
	var wrong []error
	if next.ran.Exit != 0 {
		wrong = append(wrong, fmt.Errorf("the next run does not take over: exit status %d: %s", next.ran.Exit, said(next.ran)))
	}
	if isLocked && next.ran.Took < takeover-time.Second {
		wrong = append(wrong, fmt.Errorf("it took over after %s", next.ran.Took))
	}
	d.concludeLease(d.isKilled(), wrong)
}

// isKilled says whether the killed run has left something that `undo` has to remove.
func (d *disturbedRound) isKilled() bool { return d.main.ran.Signal == syscall.SIGKILL }

// concludeUndo runs `undo`, which waits for a Lease unless it is forced.
func (d *disturbedRound) concludeUndo(force, isLocked bool) {
	arguments := []string{"undo", d.workload.Target, "-n", d.workload.Namespace}
	if force {
		arguments = append(arguments, "--force")
	}
	limited, stop := context.WithTimeout(d.ctx, bound)
	defer stop()
	ran, err := d.Podrank.Run(limited, nil, "", arguments...)
	if !d.isUsable(d.ctx, err) {
		return
	}
	var wrong []error
	if ran.Exit != 0 {
		wrong = append(wrong, fmt.Errorf("%v exits with %d: %s", arguments, ran.Exit, lastLine(ran.Stderr)))
	}
	if isLocked && force == (ran.Took >= takeover-time.Second) {
		wrong = append(wrong, fmt.Errorf("%v took %s", arguments, ran.Took))
	}
	d.line.Undo = &ran.Exit
	d.further += fmt.Sprintf("\n%v:\n%s%s", arguments, ran.Stdout, ran.Stderr)
	d.concludeLease(false, wrong)
}

// withOtherClock starts two runs at once, and the clock of one is an hour ahead or behind.
func (d *disturbedRound) withOtherClock() {
	const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
	if _, err := os.Stat(library); err != nil {
		must.Do(fmt.Errorf("install the package faketime for clocks an hour apart: %w", err))
	}
	offset := []string{"+1h", "-1h"}[d.intN(2)]
	d.line.Disturbances[0] += ", " + offset
	d.together([]string{"LD_PRELOAD=" + library, "FAKETIME=" + offset, "FAKETIME_DONT_FAKE_MONOTONIC=1"})
}

// together starts two runs on different pods of the same workload at once, one of them with these variables.
func (d *disturbedRound) together(environment []string) {
	active := d.workload.Active()
	d.main, d.rivals = d.dropping(user, active[0]), []*launch{d.dropping(rival, active[1], active[2])}
	d.rivals[0].environment = environment
	d.waiting.Go(func() {
		time.Sleep(time.Duration(d.intN(1500)) * time.Millisecond)
		d.attempt(func() { must.Do(d.run(d.rivals[0], []fault.Fault{}, nil)) })
	})
	usable := d.play(d.main, nil)
	d.waiting.Wait()
	if err := errors.Join(d.failed...); err != nil {
		d.is(wrong, err)
		return
	}
	if !usable {
		return
	}
	var wrong []error
	if !slices.ContainsFunc(d.runs(), func(l *launch) bool { return l.ran.Exit == 0 }) {
		wrong = append(wrong, errors.New("neither run finished"))
	}
	d.concludeLease(false, wrong)
}

// withoutALeaseRight takes one right away. Without it, --yes needs --no-lock.
func (d *disturbedRound) withoutALeaseRight(turn int) {
	name, noLock := leaseRights[turn%len(leaseRights)], turn/len(leaseRights)%2 == 1
	grant(d.ctx, d.Plane, d.workload.Namespace, user, name)
	d.main = d.dropping(user, d.workload.Active()[0])
	d.line.Disturbances[0] += ", " + name
	if noLock {
		d.main.command = append(d.main.command, "--no-lock")
		d.line.Disturbances[0] += ", --no-lock"
	}
	if !d.play(d.main, nil) {
		return
	}
	var wrong []error
	if ran := d.main.ran; noLock == (ran.Exit != 0) {
		wrong = append(wrong, fmt.Errorf("without the right to %s: exit status %d: %s", name, ran.Exit, said(ran)))
	} else if !strings.Contains(strings.ToLower(ran.Stderr), "lock") && !strings.Contains(ran.Stderr, "ease") {
		wrong = append(wrong, fmt.Errorf("without the right to %s, it says nothing of the lock: %s", name, ran.Stderr))
	}
	d.concludeLease(false, wrong)
}

// concludeLease judges the runs, after `undo` if a killed one may have left something.
func (d *disturbedRound) concludeLease(isLeft bool, wrong []error) {
	wrong = append(wrong, d.judgeRuns()...)
	if d.line.Taken.Late > 0 {
		wrong = append(wrong, errors.New("a pod went that was not confirmed"))
	}
	if isLeft {
		wrong = append(wrong, d.undoAll()...)
	} else {
		wrong = append(wrong, d.nothingLeft())
	}
	d.isJudged(described, wrong)
}
