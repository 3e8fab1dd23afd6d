package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
	"github.com/podrank/podrank/judge/cluster/internal/wish"
)

// game is one round as it is played.
type game struct {
	*steer
	r        *rand.Rand
	line     *line
	dir      string // for files of this round
	workload *scene.Workload
	c        *wish.Case
	plan     map[types.UID]bool // the pods that podrank wants by itself; nil if it refuses
	before   *verdict.State
	ran      *preview.Ran
	after    *verdict.State
	costs    map[string]string // that others gave last, by the names of the pods
	further  string            // what to keep of a round that went wrong besides
}

// begin makes the round's workload and draws what is asked of it: nothing but what can be done if there is a limit of pods that go.
func (s *steer) begin(ctx context.Context, number int, options scene.WorkloadOptions, most int) *game {
	r := rand.New(rand.NewPCG(s.Seed, uint64(number)))
	w := scene.BuildWorkload(ctx, s.Plane, s.history, r, fmt.Sprintf("steer-%d-", number), options)
	g := &game{steer: s, r: r, workload: w, costs: map[string]string{}, line: &line{Seed: s.Seed, Mode: s.mode, Round: number}}
	g.dir = must.Get(os.MkdirTemp("", "steer-*"))
	g.before = w.State(ctx)
	s.history.ClearEvents(w.Namespace)
	for {
		g.c = wish.Draw(r, w.Target, w.Active(), w.Strangers, most == 0)
		if g.planIt(ctx); most == 0 || 0 < len(g.plan) && len(g.plan) <= most {
			break
		}
	}
	g.line.Workload, g.line.Pods = w.Kind, len(g.c.Pods)
	return g
}

// planIt asks which pods go. What refuses the command then has to refuse it also when it runs.
func (g *game) planIt(ctx context.Context) {
	g.plan, g.line.Delete, g.line.Expect = nil, 0, "infeasible"
	if g.podrankIt(ctx, nil, "--dry-run=client"); g.ran != nil && g.ran.Exit == 0 && g.ran.Document != nil {
		g.plan, g.line.Expect = map[types.UID]bool{}, "feasible"
		for _, uid := range g.ran.Document.Wanted() {
			g.plan[uid] = true
		}
		g.line.Delete = len(g.plan)
	}
	g.ran = nil
}

// podrankIt runs the program with the round's command. If it hangs or prints nonsense, the round is wrong, and false is returned.
func (g *game) podrankIt(ctx context.Context, environment []string, further ...string) bool {
	file := filepath.Join(g.dir, "values")
	must.Do(os.WriteFile(file, []byte(g.c.Values()), 0o644))
	arguments := append(g.c.Arguments(file), "-n", g.workload.Namespace, "-o", "json")
	arguments = append(arguments, further...)
	g.line.Command = strings.Join(arguments, " ")
	input := ""
	if !g.c.ByValueFromAFile {
		input = g.c.Values()
	}
	limited, stop := context.WithTimeout(ctx, 30*time.Minute)
	defer stop()
	var err error
	g.ran, err = g.Podrank.Run(limited, environment, input, arguments...)
	if g.ran != nil {
		g.line.Exit, g.line.Seconds = g.ran.Exit, g.ran.Took.Seconds()
		if g.ran.Document != nil {
			g.line.Message = g.ran.Document.Message
		}
	}
	return g.isUsable(ctx, err)
}

// isUsable makes a run that hangs or prints nonsense a wrong round. Other errors end the round.
func (g *game) isUsable(ctx context.Context, err error) bool {
	if err == nil {
		return true
	}
	if g.ran == nil || ctx.Err() != nil {
		must.Do(err)
	}
	g.is(wrong, err)
	return false
}

// steering compares what was with what is now.
func (g *game) steering(ctx context.Context) *verdict.Steering {
	g.after = g.workload.State(ctx)
	g.line.Writes = g.workload.CostChanges()
	run := &verdict.Steering{Exit: g.ran.Exit, Document: g.ran.Document, Before: g.before, After: g.after, To: g.to(),
		KeepCosts: g.c.Keep, Costs: map[types.UID]string{}}
	for uid, pod := range g.after.Pods {
		if cost, isTheirs := g.costs[pod.Name]; isTheirs {
			run.Costs[uid] = cost
		}
	}
	return run
}

// settledSteering does the same once the controllers have done what they must.
func (g *game) settledSteering(ctx context.Context) *verdict.Steering {
	g.workload.Settled(ctx)
	return g.steering(ctx)
}

// to is the count that the command leads to.
func (g *game) to() int32 {
	if g.c.Drop {
		return g.before.Count - int32(len(g.plan))
	}
	return int32(g.c.To)
}

// is notes the result.
func (g *game) is(r result, err error) {
	g.line.Result = r
	if err != nil {
		g.line.Message = strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")+" "+g.line.Message), " ")
	}
	if r.isBad() && g.ran != nil && g.line.Message == "" {
		g.line.Message = lastLine(g.ran.Stderr)
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// wishes plays a round that nobody disturbs.
func (g *game) wishes(ctx context.Context) {
	if g.podrankIt(ctx, nil, "--yes") {
		g.is(g.judge(g.settledSteering(ctx)))
	}
}

// many takes 600 pods: more than one sync of the controller.
func (g *game) many(ctx context.Context) {
	g.c = &wish.Case{Target: g.c.Target, Pods: g.c.Pods, To: 20,
		Wishes: []wish.Wish{{Flag: "--prefer-pods", Value: "!" + wish.Draining}, {Flag: "--prefer-nodes", Value: wish.Lifecycle + "=spot"}}}
	g.planIt(ctx)
	if g.podrankIt(ctx, nil, "--yes", "--timeout", "10m") {
		g.is(g.judge(g.settledSteering(ctx)))
	}
}

// judge says what came of a round that nobody disturbed.
func (g *game) judge(run *verdict.Steering) (result, error) {
	if run.Exit == 1 && g.plan == nil {
		err := run.Untouched()
		if g.workload.HadCanary() {
			err = errors.Join(err, errors.New("a barrier was made before the refusal"))
		}
		if err != nil {
			return wrong, err
		}
		return refused, nil
	}
	if g.plan == nil {
		return wrong, fmt.Errorf("exit status %d, though the plan is refused", run.Exit)
	}
	if run.Exit == 1 {
		if err := run.Describes(); err != nil {
			return wrong, err
		}
		return gaveUp, errors.New(lastLine(g.ran.Stderr))
	}
	if run.Document == nil || run.Document.Exit == nil {
		return wrong, fmt.Errorf("exit status %d without an outcome: %s", run.Exit, lastLine(g.ran.Stderr))
	}
	less, more := run.Missed()
	g.line.Missed, g.line.Others = len(less), len(more)
	if len(less)+len(more) > 0 {
		return missed, fmt.Errorf("missed %v, and %v went", less, more)
	}
	if run.Exit != 0 {
		return wrong, fmt.Errorf("exit status %d, though exactly the wanted pods went: %s", run.Exit, lastLine(g.ran.Stderr))
	}
	wanted := run.Document.WantedNames()
	if len(wanted) != len(g.plan) {
		return wrong, fmt.Errorf("%d pods are wanted, and %d were planned", len(wanted), len(g.plan))
	}
	if g.workload.Rolls { // each of its sets loses a share
		return took, run.Describes()
	}
	if err := errors.Join(g.c.Check(wanted), run.Describes()); err != nil {
		return wrong, err
	}
	return took, nil
}

// keepRound writes down all that is known of a round that went wrong.
func (g *game) keepRound() {
	var story strings.Builder
	fmt.Fprintf(&story, "%s: %s\nkubectl-podrank %s\nworkload %s, template's cost %q, exit status %d\n", g.line.Result,
		g.line.Message, g.line.Command, g.workload.Kind, g.workload.Template, g.line.Exit)
	fmt.Fprintf(&story, "expected: %s, %d pods go\n\n", g.line.Expect, g.line.Delete)
	for uid, pod := range g.before.Pods {
		fate := "?"
		if g.after != nil {
			fate = "went"
			if after, ok := g.after.Pods[uid]; ok {
				fate = fmt.Sprintf("stayed, cost %q, ours %v, marks %v", after.Cost, after.Ours, after.Marks)
			}
		}
		fmt.Fprintf(&story, "%s planned=%v, cost %q: %s\n", pod.Name, g.plan[uid], pod.Cost, fate)
	}
	g.history.Look(g.workload.Namespace, func(n *history.Namespace) {
		for _, cost := range n.Costs {
			fmt.Fprintf(&story, "%d cost of %s: %q, then %q\n", cost.Version, cost.Pod, cost.From, cost.To)
		}
		for _, scaled := range n.Scaled {
			fmt.Fprintf(&story, "%d set %s: %d, then %d\n", scaled.Version, scaled.Set, scaled.From, scaled.To)
		}
		for _, gone := range n.Gone {
			fmt.Fprintf(&story, "%d %s went at %s\n", gone.Version, gone.Pod.Name, gone.At.UTC().Format(time.RFC3339Nano))
		}
	})
	for i, call := range (fault.Calls{Dir: g.dir}).List() {
		fmt.Fprintf(&story, "call %d at %s: %s\n", i+1, call.At.UTC().Format(time.RFC3339Nano), call.Arguments)
	}
	if g.ran != nil {
		fmt.Fprintf(&story, "\nstdout:\n%s\nstderr:\n%s\n", g.ran.Stdout, g.ran.Stderr)
	}
	story.WriteString(g.further)
	g.Keep(fmt.Sprintf("steer-%d-%s-%d", g.Seed, g.mode, g.line.Round), "story.txt", []byte(story.String()))
}
