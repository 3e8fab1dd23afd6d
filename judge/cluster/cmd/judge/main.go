// Judge plays rounds on the control plane that KUBECONFIG and ETCD name. Each round gives a workload random facts, dumps it
// with kubectl, asks the preview which pods will go, lets the real controllers delete pods, and compares by UID.
//
// For a Deployment, it asks the preview twice: set by set, with the counts that the Deployment's controller wrote, and as a
// whole, with the count that the Deployment was given. Before that, the preview of the cluster itself must equal that of the
// dump.
//
// With -order total, the controllers must be ones that decide by podrank's own order. Then no pod is contested, and it asks set by
// set alone.
//
//	judge [-from N] [-deployments | -chance | -edges] [-order ORDER] [-record FILE] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/record"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

type judge struct {
	*rounds.Rounds
	history *history.History
	kinds   []string // of scenes
	order   string   // kubernetes or total

	cases  []*record.Case
	totals totals
}

type totals struct {
	rounds, violations, sets, plain, doubtful, gone, certain, contested, safe int
	wholes                                                                    map[string]int // Deployments that were asked about as a whole, by kind of scene
	edges                                                                     map[string]int // by what the decisions fit
}

func main() { must.Main("judge", run) }

func run(ctx context.Context) {
	onlyDeployments := flag.Bool("deployments", false, "only rounds of Deployments")
	onlyChance := flag.Bool("chance", false, "only rounds of which chance decides much, and in which nothing else is open")
	onlyEdges := flag.Bool("edges", false, "only rounds in which an age reaches a power of two as the controller decides")
	order := flag.String("order", "kubernetes", "kubernetes, or total for controllers that decide by podrank's own order")
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	j := &judge{Rounds: rounds.Parse(4), kinds: scene.Kinds, totals: totals{wholes: map[string]int{}, edges: map[string]int{}}}
	j.order = *order
	if *onlyDeployments {
		j.kinds = scene.OfDeployments
	}
	if *onlyChance {
		j.kinds = scene.OfChance
	}
	if *onlyEdges {
		j.kinds = scene.OfEdges
	}
	j.history = history.Follow(ctx, j.Plane)
	scene.CreateNodes(ctx, j.Plane)
	j.Log("judge.log")

	took, t := j.Play(ctx, j.round), &j.totals
	if *recordFile != "" {
		slices.SortStableFunc(j.cases, func(a, b *record.Case) int { return a.Round - b.Round })
		rounds.Record(*recordFile, j.cases)
	}
	fmt.Printf("%d rounds of seed %d in %s, %.1f a second\n", t.rounds, j.Seed, took.Round(time.Second),
		float64(t.rounds)/took.Seconds())
	fmt.Printf("%d sets lost %d pods; of all their pods, %d were certain to go, %d contested, %d safe\n", t.sets, t.gone,
		t.certain, t.contested, t.safe)
	fmt.Printf("%d sets left nothing open: one moment, one step, no other set that lost pods\n", t.plain)
	fmt.Printf("%d sets took more than one question\n", t.doubtful)
	for _, kind := range scene.OfDeployments {
		if n := t.wholes[kind]; n > 0 {
			fmt.Printf("%d Deployments, %s, as a whole\n", n, kind)
		}
	}
	if *onlyEdges {
		fmt.Printf("an age reached a power of two meanwhile in %d rounds: %d decisions fit only the time before, %d only the time after, "+
			"%d both\n", t.edges[before]+t.edges[after]+t.edges[both], t.edges[before], t.edges[after], t.edges[both])
	}
	if *onlyChance && t.plain < t.rounds {
		// Odds are measured on all rounds, and not on those that turned out well.
		must.Do(fmt.Errorf("%d rounds left something else open", t.rounds-t.plain))
	}
	j.Conclude(t.violations)
}

// round plays one round and returns its line. What contradicts the preview is in the line, and kept.
func (j *judge) round(ctx context.Context, number int) string {
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	s := scene.Build(ctx, j.Plane, j.history, r, fmt.Sprintf("judge-%d-", number), j.kinds)
	run := j.play(ctx, s)
	ask := func(q *preview.Question) (*preview.Prediction, error) {
		q.Order = j.order
		return j.Podrank.Ask(ctx, q)
	}
	outcomes, wrong := verdict.Judge(run, ask)
	var step *preview.Step
	if wrong == nil && j.asksOfDeployment(s) {
		step, wrong = j.whole(ctx, s, run)
	}
	if wrong == nil && slices.Contains(scene.OfEdges, s.Kind) {
		j.countEdge(run, outcomes, ask)
	}
	must.Do(ctx.Err())
	if wrong != nil {
		j.keepRound(ctx, number, s, run, wrong)
	}
	line := j.note(number, s, run, outcomes, step, wrong)
	scene.CleanUp(ctx, j.Plane, j.history, s.Namespace)
	return line
}

// asksOfDeployment says whether the preview is also asked about a Deployment as a whole.
func (j *judge) asksOfDeployment(s *scene.Scene) bool {
	return slices.Contains(scene.OfDeployments, s.Kind) && j.order == "kubernetes"
}

// What a decision fits if an age reached a power of two before anything was known of it.
const before, after, both = "before", "after", "both"

// countEdge counts what the decision about the only set that lost pods fits. That it fits anything is known.
func (j *judge) countEdge(run *verdict.Run, outcomes []verdict.Set, ask verdict.Ask) {
	moments := run.Dump.Moments(run.Began, run.Gone[len(run.Gone)-1].At)
	if len(moments) < 2 {
		return
	}
	fits := func(now time.Time) bool {
		set := &outcomes[0]
		prediction, err := ask(&preview.Question{Dump: run.Dump, Namespace: run.Namespace, Set: set.Name, Replicas: set.To, Now: now})
		return err == nil && verdict.Compare(prediction, len(set.Gone), set.Gone) == nil
	}
	what := map[[2]bool]string{{true, false}: before, {false, true}: after, {true, true}: both}[[2]bool{
		fits(moments[0]), fits(moments[len(moments)-1])}]
	j.Lock()
	defer j.Unlock()
	j.totals.edges[what]++
}

// whole asks about the Deployment as a whole.
func (j *judge) whole(ctx context.Context, s *scene.Scene, run *verdict.Run) (*preview.Step, error) {
	if run.Live != nil {
		return nil, run.Live
	}
	dump := run.Dump
	if s.Count == nil {
		dump = dump.Resumed()
	}
	return verdict.JudgeDeployment(run, func(now time.Time) (*preview.Step, error) {
		return j.Podrank.AskOfDeployment(ctx, &preview.DeploymentQuestion{Dump: dump, Count: s.Count, Now: now})
	})
}

// play dumps the namespace, lets the controllers act, and returns what they did.
func (j *judge) play(ctx context.Context, s *scene.Scene) *verdict.Run {
	j.history.ClearEvents(s.Namespace)
	dump := preview.Get(ctx, j.Plane.Kubeconfig, s.Namespace)
	run := &verdict.Run{Namespace: s.Namespace, Dump: dump, Counts: map[types.UID][]int32{}}
	if j.asksOfDeployment(s) {
		question := &preview.DeploymentQuestion{Dump: dump, Count: s.Count, Now: time.Now()}
		run.Live = j.Podrank.CompareLive(ctx, j.Plane.Kubeconfig, s.Namespace, question)
	}
	if s.Await != nil {
		s.Await(ctx)
	}
	run.Began = time.Now()
	s.Trigger(ctx)
	j.history.AwaitQuiet(ctx, s.Namespace, "scaled", s.Quiet, s.Reacted)
	j.history.Look(s.Namespace, func(n *history.Namespace) {
		for _, gone := range n.Gone {
			run.Gone = append(run.Gone, verdict.Gone{UID: gone.Pod.UID, Name: gone.Pod.Name, At: gone.At})
		}
		for _, scaled := range n.Scaled {
			run.Counts[scaled.Set] = append(run.Counts[scaled.Set], scaled.To)
		}
	})
	return run
}

// note adds a round to the totals, and returns its line.
func (j *judge) note(number int, s *scene.Scene, run *verdict.Run, outcomes []verdict.Set, step *preview.Step, wrong error) string {
	j.Lock()
	defer j.Unlock()
	t := &j.totals
	t.rounds++
	line := fmt.Sprintf("seed %d round %d %s:", j.Seed, number, s.Kind)
	for _, outcome := range outcomes {
		certain, contested := outcome.Prediction.Count("delete"), outcome.Prediction.Count("contested")
		line += fmt.Sprintf(" %s %d to %d (%d certain, %d contested, %d moments, %d steps, %d asked);", outcome.Name,
			outcome.From, outcome.To, certain, contested, outcome.Moments, outcome.Steps, outcome.Asked)
		t.sets++
		if outcome.IsPlain() {
			t.plain++
			j.cases = append(j.cases, record.Of(number, s.Kind, run, &outcome))
		}
		if outcome.Asked > 1 {
			t.doubtful++
		}
		t.gone += len(outcome.Gone)
		t.certain += certain
		t.contested += contested
		t.safe += outcome.Prediction.Count("keep")
	}
	if step != nil {
		t.wholes[s.Kind]++
		line += fmt.Sprintf(" as a whole %s;", step.Path)
	}
	if wrong != nil {
		t.violations++
		return line + " WRONG: " + wrong.Error()
	}
	return line + " ok"
}

// keepRound writes down all that is known of a round that contradicts the preview, and prints what went and what the preview
// says of each set.
func (j *judge) keepRound(ctx context.Context, number int, s *scene.Scene, run *verdict.Run, wrong error) {
	var story strings.Builder
	fmt.Fprintf(&story, "%s, begun at %s: %v\n", s.Kind, run.Began.UTC().Format(time.RFC3339Nano), wrong)
	for _, gone := range run.Gone {
		fmt.Fprintf(&story, "%s %s went, %s\n", gone.UID, gone.Name, gone.At.UTC().Format(time.RFC3339Nano))
	}
	for _, object := range run.Dump.Items {
		counts := run.Counts[object.Metadata.UID]
		if counts == nil {
			continue
		}
		fmt.Fprintf(&story, "%s %s had %d, then %d\n", object.Kind, object.Metadata.Name, *object.Spec.Replicas, counts)
		prediction, err := j.Podrank.Ask(ctx, &preview.Question{Dump: run.Dump, Namespace: s.Namespace,
			Set: object.Kind + "/" + object.Metadata.Name, Replicas: counts[len(counts)-1], Now: run.Began, Order: j.order})
		if err != nil {
			fmt.Fprintln(&story, err)
			continue
		}
		for _, pod := range prediction.Pods {
			fmt.Fprintf(&story, "%s %s %s\n", pod.UID, pod.Name, pod.Verdict)
		}
	}
	fmt.Print(story.String())
	dir := fmt.Sprintf("seed-%d-round-%d", j.Seed, number)
	j.Keep(dir, "dump.json", preview.List(run.Dump.Items))
	j.Keep(dir, "story.txt", []byte(story.String()))
}
