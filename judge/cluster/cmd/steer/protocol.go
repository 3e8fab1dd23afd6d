package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// Users of podrank, whom the audit log tells from the others.
const (
	user  = "podrank-user"
	rival = "rival-user"
)

// bound is how long a run may take. Each of its steps has a time-out of half a minute.
const (
	bound   = 6 * time.Minute
	timeout = "30s"
)

// protocolRounds plans a round with disturbances drawn at prompts, writes and waits.
func protocolRounds(number int) plan {
	p := plan{options: feasible, most: 12, play: (*game).protocol}
	if first, _ := firstOf(number); first == rollout {
		p.options.Kind = "deployment"
	}
	return p
}

// disturbed is a round in which runs are disturbed.
type disturbedRound struct {
	*game
	ctx   context.Context
	since time.Time
	main  *launch

	mutex   sync.Mutex
	r       *rand.Rand // of what happens meanwhile
	rivals  []*launch
	waiting sync.WaitGroup
	failed  []error
}

// protocol plays a round in which several things are drawn to happen at prompts, writes and waits.
func (g *game) protocol(ctx context.Context) {
	d := g.beginDisturbed(ctx)
	drawn := draw(d.r, g.line.Round, g.workload.IsDeployment())
	for _, one := range drawn {
		d.c.Force = d.c.Force && one.name != otherCost // it would write over that, too
		g.line.Disturbances = append(g.line.Disturbances, one.String())
	}
	d.main = d.drawLaunch(user, drawn)
	lacks := slices.IndexFunc(drawn, func(one drawnDisturbance) bool { return one.where == fromTheStart })
	if lacks >= 0 {
		drawn[lacks].do(d)
	}
	changing := d.change(drawn)
	usable := d.play(d.main, drawn)
	changing()
	d.noteSignals(drawn)
	d.waiting.Wait()
	must.Do(errors.Join(d.failed...))
	if usable {
		d.conclude()
	}
}

// beginDisturbed gives the users their rights, and notes when it begins.
func (g *game) beginDisturbed(ctx context.Context) *disturbedRound {
	g.c.Keep, g.c.ByValueFromAFile = false, true
	for _, name := range []string{user, rival} {
		grant(ctx, g.Plane, g.workload.Namespace, name)
	}
	return &disturbedRound{game: g, ctx: ctx, since: time.Now(), r: rand.New(rand.NewPCG(g.Seed, uint64(g.line.Round)<<8))}
}

// change lets pods and counts change all the time if that is drawn, until the returned function is called.
func (d *disturbedRound) change(drawn []drawnDisturbance) (stop func()) {
	ctx, cancel := context.WithCancel(d.ctx)
	done := make(chan struct{})
	if !slices.ContainsFunc(drawn, func(one drawnDisturbance) bool { return one.where == allTheTime }) {
		close(done)
	} else {
		go func() {
			defer close(done)
			for d.line.Round%3 > 0 && !d.isLocked() && ctx.Err() == nil { // else it may refuse before it has begun
				time.Sleep(20 * time.Millisecond)
			}
			for ctx.Err() == nil {
				d.attempt(func() { changes[d.intN(len(changes))].do(d) })
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(200+d.intN(1800)) * time.Millisecond):
				}
			}
		}()
	}
	return func() { cancel(); <-done }
}

// isLocked says whether the run has asked for its Lease.
func (d *disturbedRound) isLocked() bool {
	return slices.ContainsFunc(d.main.calls.List(), func(call fault.Call) bool { return call.Kind == fault.Create })
}

// attempt does something, and notes an error.
func (d *disturbedRound) attempt(do func()) {
	if err := must.Try(do); err != nil {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.failed = append(d.failed, err)
	}
}

func (d *disturbedRound) intN(n int) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.r.IntN(n)
}

// play runs the launch, lets happen what is drawn, and says whether there is something to judge.
func (d *disturbedRound) play(l *launch, drawn []drawnDisturbance) bool {
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
			hooks.Go(func() { d.hook(l, i, one, ended) })
		}
	}
	err := d.run(l, faults, drawn)
	close(ended)
	hooks.Wait()
	return d.isUsable(d.ctx, err)
}

// hook waits until the call is reached, lets something happen, and lets the call go on.
func (d *disturbedRound) hook(l *launch, i int, one drawnDisturbance, ended <-chan struct{}) {
	defer l.calls.Release(i)
	for !l.calls.Reached(i) {
		select {
		case <-ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	d.attempt(func() { one.do(d) })
	d.happened(one)
}

// happened notes that a disturbance took place.
func (d *disturbedRound) happened(one drawnDisturbance) {
	if one.name == lostRight { // it says itself which
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.line.Happened = append(d.line.Happened, one.String())
}

// noteSignals notes what happened without a hook.
func (d *disturbedRound) noteSignals(drawn []drawnDisturbance) {
	calls := map[fault.Kind]int{}
	for _, call := range d.main.calls.List() {
		calls[call.Kind]++
	}
	for _, one := range drawn {
		if one.where == fromTheStart || one.where == allTheTime || one.signal != "" && one.where.kind != "" && calls[one.where.kind] >= one.where.n {
			d.happened(one)
		}
	}
}

// conclude judges all runs of the round, and removes what killed ones left.
func (d *disturbedRound) conclude() {
	wrong := d.judgeRuns()
	r := described
	if len(d.line.Happened) == 0 {
		r = unreached
	}
	if slices.ContainsFunc(d.runs(), func(l *launch) bool { return l.ran.Exit == 4 || l.ran.Signal == syscall.SIGKILL }) {
		r = undone
		wrong = append(wrong, d.undoAll()...)
	} else {
		wrong = append(wrong, d.nothingLeft())
	}
	d.isJudged(r, wrong)
}

// judgeRuns holds what the runs did and said against the audit log.
func (d *disturbedRound) judgeRuns() []error {
	d.workload.SettleDown(d.ctx)
	world, runs := d.world(), d.runs()
	for _, l := range runs {
		d.line.Calls += len(l.calls.List())
		d.line.Exits = append(d.line.Exits, l.ran.Exit)
	}
	d.keep(world, runs)
	seen, wrong := d.seen(runs)
	d.line.Message = strings.Join(strings.Fields(seen[0].Said), " ")
	taken, unconfirmed := world.Take(seen)
	d.line.Taken = &taken
	wrong = append(wrong, unconfirmed...)
	for _, run := range seen {
		if err := world.Told(run); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", run.User, err))
		}
	}
	return wrong
}

// keep notes what happened, in case something went wrong.
func (d *disturbedRound) keep(world *verdict.World, runs []*launch) {
	var story strings.Builder
	fmt.Fprintf(&story, "\ndrawn: %v\nhappened: %v\n", d.line.Disturbances, d.line.Happened)
	for _, l := range runs {
		fmt.Fprintf(&story, "\n%s: %v, at a terminal: %v, exit status %d %v, ended at %s\n%s%s\n", l.user, l.command, l.prompted, l.ran.Exit,
			l.ran.Signal, moment(l.ended), l.ran.Stdout, l.ran.Stderr)
		for i, call := range l.calls.List() {
			fmt.Fprintf(&story, "%d at %s, begun %s: %s: %s\n", i+1, moment(call.At), moment(call.Began), call.Kind, call.Arguments)
		}
	}
	fmt.Fprintf(&story, "\nworld: count %d, rolled %v\n", world.Count, world.Rolled)
	for _, c := range world.Counts {
		fmt.Fprintf(&story, "%s count %d, then %d, by %s\n", moment(c.At), c.From, c.To, c.By)
	}
	for _, deleted := range world.Deleted {
		fmt.Fprintf(&story, "%s %s deleted by %s\n", moment(deleted.At), deleted.Pod, deleted.By)
	}
	for _, change := range world.Changes {
		fmt.Fprintf(&story, "%s %s by %s\n", moment(change.At), change.What, change.By)
	}
	d.further += story.String()
}

func moment(t time.Time) string { return t.UTC().Format("15:04:05.000000") }

// nothingLeft says what is left of podrank.
func (d *disturbedRound) nothingLeft() error {
	if err := d.steering(d.ctx).Restored(); err != nil {
		return fmt.Errorf("left after exit status %v: %w", d.line.Exits, err)
	}
	return nil
}

// isJudged notes the result.
func (d *disturbedRound) isJudged(r result, wrong []error) {
	err := errors.Join(wrong...)
	if err != nil {
		r = broken
	}
	d.is(r, err)
}

// undoAll runs `undo` at once with --force, or without it when the Lease is stale, after which nothing of podrank may be left.
func (d *disturbedRound) undoAll() (wrong []error) {
	ctx, stop := context.WithTimeout(d.ctx, bound)
	defer stop()
	arguments := []string{"undo", d.workload.Target, "-n", d.workload.Namespace}
	if d.intN(2) == 0 {
		arguments = append(arguments, "--force")
	}
	ran, err := d.Podrank.Run(ctx, nil, "", arguments...)
	if err != nil {
		return []error{err}
	}
	d.line.Undo = &ran.Exit
	d.further += fmt.Sprintf("\n%v:\n%s%s", arguments, ran.Stdout, ran.Stderr)
	d.workload.SettleDown(ctx)
	if err := d.steering(ctx).Restored(); err != nil || ran.Exit != 0 {
		return []error{fmt.Errorf("%s exits with %d: %s", strings.Join(arguments, " "), ran.Exit, lastLine(ran.Stderr)), err}
	}
	return nil
}

// runs are all that were started.
func (d *disturbedRound) runs() []*launch {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append([]*launch{d.main}, d.rivals...)
}
