package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// reasons are the kinds of refusals that a line of the totals has.
var reasons = regexp.MustCompile(`no deletion costs settle|its controller takes|would stay|has no pods|scale it up|named, but only|` +
	`try again in a moment|wait until its controller|changes how many|leave no room|wait for its rollout`)

// steered plays one round in which podrank scales, and returns its line.
func (j *judge) steered(ctx context.Context, number int) string {
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	journey := scene.BuildJourney(ctx, j.Plane, j.history, r, fmt.Sprintf("steered-%d-", number))
	before := journey.State(ctx)
	arguments, to := j.drawCommand(r, before)
	arguments = append(arguments, "--namespace", journey.Namespace, "--yes", "-o", "json")
	limited, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	ran := must.Get(j.Podrank.Run(limited, nil, "", arguments...))
	journey.Linger(ctx)
	after := journey.State(ctx)
	what, err := judgeSteered(&verdict.Steering{Exit: ran.Exit, Document: ran.Document, Before: before, After: after, To: to,
		Rollout: journey.Kind == "lagging"})
	line := fmt.Sprintf("seed %d round %d %s %s", j.Seed, number, journey.Kind, what)
	j.Lock()
	defer j.Unlock()
	if what == "refused" {
		reason := reasons.FindString(ran.Stderr)
		if reason == "" {
			reason = strings.TrimSpace(ran.Stderr)
		}
		what += ": " + reason
	}
	j.tally[journey.Kind+": "+what]++
	if err != nil {
		j.wrong++
		dir := fmt.Sprintf("end-steered-%d-round-%d", j.Seed, number)
		story := map[string]any{"error": err.Error(), "command": strings.Join(arguments, " "), "before": before, "after": after}
		j.Keep(dir, "story.json", must.Get(json.MarshalIndent(story, "", " ")))
		j.Keep(dir, "printed.txt", []byte(ran.Stdout+ran.Stderr))
		fmt.Printf("round %d: %s: %v\n", number, strings.Join(arguments, " "), err)
		line += ": " + err.Error()
	}
	scene.CleanUp(ctx, j.Plane, j.history, journey.Namespace)
	return line
}

// drawCommand scales to a count, with some pods named, or drops some.
func (j *judge) drawCommand(r *rand.Rand, before *verdict.State) ([]string, int32) {
	var names []string
	for _, uid := range slices.Sorted(maps.Keys(before.Pods)) {
		names = append(names, before.Pods[uid].Name)
	}
	slices.Sort(names)
	r.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
	named := names[:min(len(names), []int{0, 0, 1, 1, 2, 3}[r.IntN(6)])]
	if len(named) > 0 && r.IntN(4) == 0 {
		return append([]string{"drop"}, named...), before.Count - int32(len(named))
	}
	to := r.Int32N(max(1, before.Count))
	arguments := []string{"scale", "deploy/web", "--replicas", fmt.Sprint(to)}
	for _, name := range named {
		arguments = append(arguments, "--pod", name)
	}
	return arguments, to
}

// judgeSteered says what came of a run that nobody disturbed. An error says what is wrong with it.
func judgeSteered(run *verdict.Steering) (string, error) {
	if run.Rollout { // it is one that nobody awaited
		return fmt.Sprintf("exit status %d", run.Exit), run.Describes()
	}
	if run.Exit == 1 {
		if err := run.Untouched(); err != nil {
			return "refused, WRONG", err
		}
		return "refused", nil
	}
	if run.Exit != 0 || run.Document == nil {
		return "WRONG", fmt.Errorf("exit status %d", run.Exit)
	}
	missed, others := run.Missed()
	var err error
	if len(missed)+len(others) > 0 {
		err = fmt.Errorf("missed %v, and %v went", missed, others)
	}
	if err = errors.Join(err, run.Describes()); err != nil {
		return "WRONG", err
	}
	return fmt.Sprintf("took what was wanted, rollout %v", run.Document.Rollout), nil
}
