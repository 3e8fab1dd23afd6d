// End plays rounds on the control plane that KUBECONFIG and ETCD name: each brings a Deployment somewhere into its rollouts, dumps it,
// asks the preview where its syncs lead after a change, makes the change, and waits until the real controllers come to
// rest. Then it makes pods ready, one by one, and each time judges the prediction of the next rest. It compares the
// replicas of all sets, and the deleted pods by UID.
//
//	end [-from N] [-record FILE] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"context"
	"encoding/json"
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

// most is how many pods are made ready in a round.
const most = 5

type judge struct {
	*rounds.Rounds
	history *history.History
	cases   []*record.End
}

func main() { must.Main("end", run) }

func run(ctx context.Context) {
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	j := &judge{Rounds: rounds.Parse(12)}
	j.history = history.Follow(ctx, j.Plane)
	scene.CreateNodes(ctx, j.Plane)
	j.Log(fmt.Sprintf("end-%d.log", j.Seed))
	j.Play(ctx, j.round)
	if *recordFile != "" {
		slices.SortStableFunc(j.cases, func(a, b *record.End) int { return a.Round - b.Round })
		rounds.Record(*recordFile, j.cases)
	}
	j.Conclude()
}

// round plays one round and returns its line.
func (j *judge) round(ctx context.Context, number int) string {
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	journey := scene.BuildJourney(ctx, j.Plane, j.history, r, fmt.Sprintf("end-%d-", number))
	line := fmt.Sprintf("seed %d round %d %s:", j.Seed, number, journey.Kind)
	get := func() *preview.Dump { return preview.Get(ctx, j.Plane.Kubeconfig, journey.Namespace) }
	changed := get().Merged("Deployment", "web", journey.Change)
	var cases []*record.End
	step := func(kind string, dump *preview.Dump, count *int32, goes func()) {
		text, played := j.step(ctx, number, journey, kind, dump, count, goes)
		line += text
		if played != nil {
			cases = append(cases, played)
		}
	}
	step(journey.Kind, changed, journey.Count, func() { journey.Go(ctx) })
	for range r.IntN(most + 1) {
		pod, change := journey.NextPod()
		if pod == nil {
			break
		}
		changed := get().Merged("Pod", pod.Name, change)
		step("ready", changed, nil, func() { journey.MakeReady(ctx, pod, change) })
	}
	scene.CleanUp(ctx, j.Plane, j.history, journey.Namespace)
	j.Lock()
	defer j.Unlock()
	j.cases = append(j.cases, cases...)
	return line
}

// step asks where the objects lead, lets the controllers go there, and compares. It returns a part of the round's line, and the case.
func (j *judge) step(ctx context.Context, number int, journey *scene.Journey, kind string, dump *preview.Dump, count *int32,
	goes func(),
) (string, *record.End) {
	j.history.ClearEvents(journey.Namespace)
	question := &preview.EndQuestion{Dump: dump, Count: count, Now: time.Now(), Within: "1s,5s"}
	goes()
	arrival := j.arrival(journey.Namespace, dump)
	end, err := j.Podrank.AskEnd(ctx, question)
	must.Do(ctx.Err())
	if err == nil {
		err = verdict.JudgeEnd(end, arrival)
		if err != nil {
			journey.Linger(ctx)
			arrival = j.arrival(journey.Namespace, dump)
			err = verdict.JudgeEnd(end, arrival)
		}
	} else if kind == "lagging" && strings.Contains(err.Error(), "the input is incomplete") {
		// kubectl reads pods and sets one after the other, so what it reads in the middle of some work need not fit together.
		j.Count(kind+": refused, as the dump does not fit together", 1)
		return " lagging refused;", nil
	}
	j.count(kind, end)
	played := record.EndOf(number, kind, question, arrival)
	if err == nil {
		return fmt.Sprintf(" %s ok;", kind), played
	}
	if end != nil && end.Has("controller-busy") && kind == "lagging" {
		// The preview says that the controllers are at work.
		const what = "other than said, while the controllers were at work"
		j.Count(kind+": "+what, 1)
		return fmt.Sprintf(" %s %s: %v;", kind, what, err), played
	}
	story := must.Get(json.MarshalIndent(map[string]any{"error": err.Error(), "end": end, "went": arrival.Before, "sizes": arrival.Sizes,
		"others": arrival.Others, "count": count, "now": question.Now}, "", " "))
	dir := fmt.Sprintf("end-%d-round-%d-%s", j.Seed, number, kind)
	j.Keep(dir, "dump.json", preview.List(dump.Items))
	j.Keep(dir, "story.json", story)
	j.IsWrong(number, "%s: %v", kind, err)
	return fmt.Sprintf(" %s WRONG: %v;", kind, err), played
}

// arrival is what became of the objects.
func (j *judge) arrival(namespace string, dump *preview.Dump) *verdict.Arrival {
	a := &verdict.Arrival{Before: map[types.UID]bool{}, Sizes: map[string]int32{}}
	sets := map[types.UID]string{}
	for _, object := range dump.Items {
		switch {
		case object.Kind == "ReplicaSet":
			sets[object.Metadata.UID] = object.Metadata.Name
		case object.IsActivePod() && object.Owner() != "":
			a.Before[object.Metadata.UID] = false
		}
	}
	j.history.Look(namespace, func(n *history.Namespace) {
		for uid := range a.Before {
			// A pod that was dumped while the controllers were at work may have been deleted before the change.
			pod := n.Pods[uid]
			a.Before[uid] = pod == nil || pod.DeletionTimestamp != nil
		}
		for uid, set := range n.Sets {
			if name, known := sets[uid]; known {
				a.Sizes[name] = set.Replicas
			} else {
				a.Others += set.Replicas
			}
		}
	})
	return a
}

// count adds a step to the totals: how much of it was certain.
func (j *judge) count(kind string, end *preview.End) {
	if end == nil || end.Deletions == nil {
		return
	}
	j.Count(kind+": steps", 1)
	if !slices.ContainsFunc(end.Groups, func(set preview.EndOf) bool { return set.ReplicasAtEnd.Min != set.ReplicasAtEnd.Max }) {
		j.Count(kind+": all sizes certain", 1)
	}
	if len(end.Steps) > 1 {
		j.Count(kind+": several syncs", 1)
	}
	for _, set := range end.Groups {
		for _, pod := range set.Pods {
			j.Count("pods: "+pod.Verdict, 1)
		}
	}
}
