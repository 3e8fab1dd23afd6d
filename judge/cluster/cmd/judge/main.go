// Judge plays rounds on the control plane that KUBECONFIG and ETCD name. Each round gives a set random facts, dumps it with kubectl, asks
// the preview which pods Kubernetes will delete, lets the real controllers delete pods, and compares by UID.
//
// With -order total, the controllers must be ones that decide by podrank's own order. Then no pod is contested.
//
//	judge [-from N] [-chance | -edges] [-order ORDER] [-record FILE] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

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
	cases   []*record.Case
}

func main() { must.Main("judge", run) }

func run(ctx context.Context) {
	onlyChance := flag.Bool("chance", false, "only rounds of which chance decides much, and in which nothing else is open")
	onlyEdges := flag.Bool("edges", false, "only rounds in which an age reaches a power of two as the controller decides")
	order := flag.String("order", "kubernetes", "kubernetes, or total for controllers that decide by podrank's own order")
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	j := &judge{Rounds: rounds.Parse(4), kinds: scene.Kinds}
	j.order = *order
	if *onlyChance {
		j.kinds = scene.OfChance
	}
	if *onlyEdges {
		j.kinds = scene.OfEdges
	}
	j.history = history.Follow(ctx, j.Plane)
	scene.CreateNodes(ctx, j.Plane)
	j.Log("judge.log")

	j.Play(ctx, j.round)
	if *recordFile != "" {
		slices.SortStableFunc(j.cases, func(a, b *record.Case) int { return a.Round - b.Round })
		rounds.Record(*recordFile, j.cases)
	}
	if played := j.Last - j.From + 1; *onlyChance && len(j.cases) < played {
		// Probabilities are measured on all rounds, not only on those without contradictions.
		must.Do(fmt.Errorf("%d rounds left something else open", played-len(j.cases)))
	}
	j.Conclude()
}

// round plays one round and returns its line. It records contradictions to the preview in the line, and keeps their
// files.
func (j *judge) round(ctx context.Context, number int) string {
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	s := scene.Build(ctx, j.Plane, j.history, r, fmt.Sprintf("judge-%d-", number), j.kinds)
	run := j.play(ctx, s)
	ask := func(q *preview.Question) (*preview.Prediction, error) {
		q.Order = j.order
		return j.Podrank.Ask(ctx, q)
	}
	line := fmt.Sprintf("seed %d round %d %s to %d: ", j.Seed, number, s.Kind, run.Replicas)
	outcome, wrong := verdict.Judge(run, ask)
	must.Do(ctx.Err())
	if wrong != nil {
		line += "WRONG: " + wrong.Error()
		j.IsWrong(number, "%s: %v", s.Kind, wrong)
		dir := fmt.Sprintf("seed-%d-round-%d", j.Seed, number)
		j.Keep(dir, "dump.json", preview.List(run.Dump.Items))
		run.Dump = nil
		j.Keep(dir, "story.json", must.Get(json.MarshalIndent(map[string]any{"error": wrong.Error(), "run": run}, "", " ")))
	} else {
		line += fmt.Sprintf("%d went, %d moments, ok", len(outcome.Gone), outcome.Moments)
		j.note(number, s.Kind, run, outcome)
		if slices.Contains(scene.OfEdges, s.Kind) && outcome.Moments > 1 {
			j.countEdge(run, outcome, ask)
		}
	}
	scene.CleanUp(ctx, j.Plane, j.history, s.Namespace)
	return line
}

// countEdge counts whether the decision fits the time before the edge, the time after it, or both.
func (j *judge) countEdge(run *verdict.Run, outcome *verdict.Outcome, ask verdict.Ask) {
	moments := run.Dump.Moments(run.Began, run.Gone[len(run.Gone)-1].At)
	fits := func(now time.Time) bool {
		prediction, err := ask(&preview.Question{Dump: run.Dump, Namespace: run.Namespace, Set: run.Set, Replicas: run.Replicas, Now: now})
		return err == nil && verdict.Compare(prediction, len(outcome.Gone), outcome.Gone) == nil
	}
	j.Count(map[[2]bool]string{
		{true, false}: "decisions fit only the time before the edge", {false, true}: "decisions fit only the time after the edge",
		{true, true}: "decisions fit the times before and after the edge",
	}[[2]bool{fits(moments[0]), fits(moments[len(moments)-1])}], 1)
}

// play dumps the namespace, lets the controllers act, and returns what they did.
func (j *judge) play(ctx context.Context, s *scene.Scene) *verdict.Run {
	j.history.ClearEvents(s.Namespace)
	run := &verdict.Run{Namespace: s.Namespace, Dump: preview.Get(ctx, j.Plane.Kubeconfig, s.Namespace), Set: s.Set, Replicas: s.Count}
	if s.Await != nil {
		s.Await(ctx)
	}
	run.Began = time.Now()
	s.Trigger(ctx)
	j.history.Await(ctx, s.Namespace, "scaled", s.Reacted)
	j.history.Look(s.Namespace, func(n *history.Namespace) {
		for _, gone := range n.Gone {
			run.Gone = append(run.Gone, verdict.Gone{UID: gone.Pod.UID, Name: gone.Pod.Name, At: gone.At})
		}
	})
	return run
}

// note adds a round to the totals.
func (j *judge) note(number int, kind string, run *verdict.Run, outcome *verdict.Outcome) {
	j.Count("rounds of the kind "+kind, 1)
	j.Count("pods that went", len(outcome.Gone))
	for _, pod := range outcome.Prediction.Pods() {
		j.Count("pods: "+pod.Verdict, 1)
	}
	if outcome.Asked > 1 {
		j.Count("rounds that took more than one question", 1)
	}
	if outcome.Moments == 1 {
		j.Lock()
		defer j.Unlock()
		j.cases = append(j.cases, record.Of(number, kind, run, outcome))
	}
}
