package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	expect   wish.Expectation
	before   *verdict.State
	ran      *preview.Ran
	after    *verdict.State
	further  string // what to keep of a round that went wrong besides
}

// begin makes the round's workload and draws what is asked of it.
func (s *steer) begin(ctx context.Context, number int, options scene.WorkloadOptions, limits wish.Limits) *game {
	r := rand.New(rand.NewPCG(s.Seed, uint64(number)))
	w := scene.BuildWorkload(ctx, s.Plane, s.history, r, fmt.Sprintf("steer-%d-", number), options)
	g := &game{steer: s, r: r, workload: w, c: w.Case(ctx), line: &line{Seed: s.Seed, Mode: s.mode, Round: number}}
	wish.Draw(r, g.c, w.Strangers, limits)
	g.dir = must.Get(os.MkdirTemp("", "steer-*"))
	g.before = w.State(ctx)
	s.history.ClearEvents(w.Namespace)
	g.line.Workload, g.line.Pods = w.Kind, len(g.c.Pods)
	g.expectIt()
	return g
}

// expectIt notes what must come of the case.
func (g *game) expectIt() {
	g.expect = g.c.Expect()
	g.line.Expect, g.line.Why, g.line.Delete = string(g.expect.Verdict), g.expect.Why, g.expect.Delete
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
	return &verdict.Steering{Exit: g.ran.Exit, Document: g.ran.Document, Before: g.before, After: g.after, To: g.to(),
		KeepCosts: g.c.Keep, Removed: map[types.UID]bool{}, Costs: map[types.UID]string{}}
}

// settledSteering does the same once the controllers have done what they must.
func (g *game) settledSteering(ctx context.Context) *verdict.Steering {
	g.workload.Settled(ctx)
	return g.steering(ctx)
}

// to is the count that the command leads to.
func (g *game) to() int32 {
	if g.c.Drop {
		return int32(len(g.c.Pods) - g.expect.Delete)
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

// judge says what came of a round that nobody disturbed.
func (g *game) judge(run *verdict.Steering) (result, error) {
	infeasible := g.expect.Verdict == wish.Infeasible
	if run.Exit == 1 && g.expect.Verdict != wish.Feasible {
		err := run.Untouched()
		if g.workload.HadCanary() {
			err = errors.Join(err, errors.New("a barrier was made before the refusal"))
		}
		if err == nil {
			return refused, nil
		}
		if infeasible {
			return wrong, err
		}
	}
	if infeasible {
		return wrong, fmt.Errorf("exit status %d, though %s", run.Exit, g.expect.Why)
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
	if g.c.Rolls {
		return took, run.Describes()
	}
	wanted := run.Document.Wanted()
	g.line.Least, g.line.Decides = g.c.Least(wanted), g.c.Rest(&g.expect)
	if g.c.Evict || g.c.Keep && len(run.Document.Left) != 0 {
		g.line.Least = g.line.Writes // it is not comparable: replacements of evicted pods get costs, too
	}
	if err := errors.Join(g.c.Check(&g.expect, wanted), run.Describes()); err != nil {
		return wrong, err
	}
	return took, nil
}

// plain plays the same rounds with kubectl alone: a low cost for each wanted pod, and then the new count.
func (g *game) plain(ctx context.Context) {
	if !g.podrankIt(ctx, nil, "--dry-run=client") {
		return
	}
	var names []string
	wanted := map[types.UID]bool{}
	for _, pod := range g.c.Pods {
		goes := slices.Contains(g.c.Names, pod.Name)
		if g.ran.Exit == 0 && g.ran.Document != nil {
			goes = slices.Contains(g.ran.Document.Wanted(), pod.UID)
		}
		if goes {
			names, wanted[pod.UID] = append(names, pod.Name), true
		}
	}
	to := len(g.c.Pods) - len(names)
	if !g.c.Drop {
		to = g.c.To
	}
	unknown := slices.ContainsFunc(g.c.Names, func(name string) bool { return slices.Contains(g.workload.Strangers, name) })
	if g.workload.Refused != "" || g.workload.Rolls || len(names) == 0 || unknown || to+len(names) > len(g.c.Pods) {
		g.is(skipped, nil)
		return
	}
	cost := int64(-1)
	for _, pod := range g.c.Pods {
		cost = max(-1<<31, min(cost, int64(pod.Cost)-1))
	}
	began := time.Now()
	annotate := append([]string{"annotate", "--overwrite", "pods"}, names...)
	g.kubectl(ctx, append(annotate, fmt.Sprintf("controller.kubernetes.io/pod-deletion-cost=%d", cost))...)
	g.kubectl(ctx, "scale", g.workload.Target, fmt.Sprintf("--replicas=%d", to))
	l := g.line
	l.Seconds = time.Since(began).Seconds()
	gone := g.settledSteering(ctx).Gone()
	for _, uid := range gone {
		if !wanted[uid] {
			l.Others++
		}
	}
	l.Missed = len(names) - (len(gone) - l.Others)
	l.Delete, l.Result = len(gone), took
	if l.Missed > 0 {
		l.Result = missed
	}
}

func (g *game) kubectl(ctx context.Context, arguments ...string) {
	out, err := exec.CommandContext(ctx, "kubectl", append(arguments, "-n", g.workload.Namespace)...).CombinedOutput()
	if err != nil {
		must.Do(fmt.Errorf("kubectl %v: %w: %s", arguments, err, out))
	}
}

// keepRound writes down all that is known of a round that went wrong.
func (g *game) keepRound() {
	var story strings.Builder
	fmt.Fprintf(&story, "%s: %s\nkubectl-podrank %s\nworkload %s, template's cost %q, fault %s, exit status %d\n", g.line.Result,
		g.line.Message, g.line.Command, g.workload.Kind, g.workload.Template, g.line.Fault, g.line.Exit)
	fmt.Fprintf(&story, "expected: %s, %d pods go, %s\n\n", g.expect.Verdict, g.expect.Delete, g.expect.Why)
	for _, pod := range g.c.Pods {
		fate := "?"
		if g.after != nil {
			fate = "went"
			if after, ok := g.after.Pods[pod.UID]; ok {
				fate = fmt.Sprintf("stayed, cost %q, ours %v, marks %v", after.Cost, after.Ours, after.Marks)
			}
		}
		fmt.Fprintf(&story, "%s %s must=%v never=%v named=%v: %s; %s ready=%v available=%v cost=%d fixed=%v labels=%v on %s %v\n",
			pod.UID, pod.Name, g.expect.Must[pod.UID], g.expect.Never[pod.UID], slices.Contains(g.c.Names, pod.Name), fate,
			pod.Phase, pod.Ready, pod.Available, pod.Cost, pod.Fixed, pod.Labels, pod.Node, pod.NodeLabels)
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
