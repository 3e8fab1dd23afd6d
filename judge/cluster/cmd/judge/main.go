// Judge plays rounds on the control plane that KUBECONFIG and ETCD name. Each round gives a workload random facts, dumps it
// with kubectl, asks the preview which pods will go, lets the real controllers delete pods, and compares by UID.
//
// For a Deployment, it asks the preview twice: set by set, with the counts that the Deployment's controller wrote, and as a
// whole, with the count that the Deployment was given. Before that, the preview of the cluster itself must equal that of the
// dump.
//
//	judge [-from N] [-deployments] [-record FILE] -podrank PROGRAM -log FILE -keep DIR N SEED
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/record"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

type judge struct {
	plane   *control.Plane
	history *history.History
	podrank preview.Program
	seed    uint64
	keep    string
	kinds   []string // of scenes

	mutex  sync.Mutex
	log    *os.File
	done   map[int]bool
	cases  map[int][]*record.Case
	totals totals
}

type totals struct {
	rounds, violations, sets, plain, doubtful, gone, certain, contested, safe int
	wholes                                                                    map[string]*wholes // by kind of scene
}

// wholes is what became of Deployments that were asked about as a whole.
type wholes struct{ rounds, only, changed, gone, certain, contested, safe int }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	from := flag.Int("from", 1, "the first round")
	parallel := flag.Int("parallel", 4, "rounds at a time")
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	logFile := flag.String("log", "judge.log", "gets a line for each round")
	keep := flag.String("keep", ".", "the directory for what was found wrong")
	onlyDeployments := flag.Bool("deployments", false, "only rounds of Deployments")
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	flag.Parse()
	count, err1 := strconv.Atoi(flag.Arg(0))
	seed, err2 := strconv.ParseUint(flag.Arg(1), 10, 64)
	if err := errors.Join(err1, err2); err != nil || flag.NArg() != 2 {
		return fmt.Errorf("want a number of rounds and a seed: %w", err)
	}

	plane, err := control.Connect()
	if err != nil {
		return err
	}
	h, err := history.Follow(ctx, plane)
	if err != nil {
		return err
	}
	if err := scene.CreateNodes(ctx, plane); err != nil {
		return err
	}
	log, err := os.OpenFile(*logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	j := &judge{plane: plane, history: h, podrank: preview.Program(*podrank), seed: seed, keep: *keep, log: log,
		kinds: scene.Kinds, done: map[int]bool{}, cases: map[int][]*record.Case{}}
	j.totals.wholes = map[string]*wholes{}
	if *onlyDeployments {
		j.kinds = scene.OfDeployments
	}

	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(*parallel)
	for number := *from; number <= count && ctx.Err() == nil; number++ {
		group.Go(func() error { return j.round(ctx, number) })
	}
	if err := group.Wait(); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		next := *from
		for j.done[next] {
			next++
		}
		return fmt.Errorf("%w; to go on, give FROM %d", err, next)
	}
	if *recordFile != "" {
		if err := j.writeCases(*recordFile); err != nil {
			return err
		}
	}
	t, took := j.totals, time.Since(began)
	fmt.Printf("%d rounds of seed %d in %s, %.1f a second\n", t.rounds, seed, took.Round(time.Second),
		float64(t.rounds)/took.Seconds())
	fmt.Printf("%d sets lost %d pods; of all their pods, %d were certain to go, %d contested, %d safe\n", t.sets, t.gone,
		t.certain, t.contested, t.safe)
	fmt.Printf("%d sets left nothing open: one moment, one step, no other set that lost pods\n", t.plain)
	fmt.Printf("%d sets took more than one question\n", t.doubtful)
	for _, kind := range scene.OfDeployments {
		if w := t.wholes[kind]; w != nil {
			fmt.Printf("%d Deployments, %s, as a whole, %d of them in one step, pod by pod: in the first step %d sets changed and "+
				"%d pods went; of all pods of sets that lost some, %d were certain to go, %d contested, %d safe\n",
				w.rounds, kind, w.only, w.changed, w.gone, w.certain, w.contested, w.safe)
		}
	}
	fmt.Printf("%d rounds contradict the preview\n", t.violations)
	if t.violations > 0 {
		return fmt.Errorf("what contradicts the preview is kept in %s", j.keep)
	}
	return nil
}

// round plays one round and writes its line. An error is one of the control plane; a contradiction is a line.
func (j *judge) round(ctx context.Context, number int) error {
	r := rand.New(rand.NewPCG(j.seed, uint64(number)))
	s, err := scene.Build(ctx, j.plane, j.history, r, fmt.Sprintf("judge-%d-", number), j.kinds)
	if err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	run, err := j.play(ctx, s)
	if err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	outcomes, wrong := verdict.Judge(run, func(q *preview.Question) (*preview.Prediction, error) {
		return j.podrank.Ask(ctx, q)
	})
	var steps *verdict.Steps
	if wrong == nil && slices.Contains(scene.OfDeployments, s.Kind) {
		steps, wrong = j.whole(ctx, s, run)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrong != nil {
		if err := j.keepRound(ctx, number, s, run, wrong); err != nil {
			return err
		}
	}
	if err := j.note(number, s, run, outcomes, steps, wrong); err != nil {
		return err
	}
	return scene.CleanUp(ctx, j.plane, j.history, s.Namespace)
}

// whole asks about the Deployment as a whole.
func (j *judge) whole(ctx context.Context, s *scene.Scene, run *verdict.Run) (*verdict.Steps, error) {
	if run.Live != nil {
		return nil, run.Live
	}
	dump := run.Dump
	if s.Count == nil {
		resumed, err := dump.Resumed()
		if err != nil {
			return nil, err
		}
		dump = resumed
	}
	return verdict.JudgeDeployment(run, func(now time.Time) (*preview.Step, error) {
		return j.podrank.AskOfDeployment(ctx, &preview.DeploymentQuestion{Dump: dump, Count: s.Count, Now: now})
	})
}

// play dumps the namespace, lets the controllers act, and returns what they did.
func (j *judge) play(ctx context.Context, s *scene.Scene) (*verdict.Run, error) {
	j.history.ClearEvents(s.Namespace)
	dump, err := preview.Get(ctx, j.plane.Kubeconfig, s.Namespace)
	if err != nil {
		return nil, err
	}
	run := &verdict.Run{Namespace: s.Namespace, Dump: dump, Counts: map[types.UID][]int32{}}
	if slices.Contains(scene.OfDeployments, s.Kind) {
		question := &preview.DeploymentQuestion{Dump: dump, Count: s.Count, Now: time.Now()}
		run.Live = j.podrank.CompareLive(ctx, j.plane.Kubeconfig, s.Namespace, question)
	}
	run.Began = time.Now()
	if err := s.Trigger(ctx); err != nil {
		return nil, err
	}
	if err := j.history.AwaitQuiet(ctx, s.Namespace, "scaled", s.Quiet, s.Reacted); err != nil {
		return nil, err
	}
	j.history.Look(s.Namespace, func(n *history.Namespace) {
		for _, gone := range n.Gone {
			run.Gone = append(run.Gone, verdict.Gone{UID: gone.Pod.UID, Name: gone.Pod.Name, At: gone.At})
		}
		for _, scaled := range n.Scaled {
			run.Counts[scaled.Set] = append(run.Counts[scaled.Set], scaled.To)
		}
	})
	return run, nil
}

func (j *judge) note(number int, s *scene.Scene, run *verdict.Run, outcomes []verdict.Set,
	steps *verdict.Steps, wrong error) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.done[number] = true
	j.totals.rounds++
	line := fmt.Sprintf("seed %d round %d %s:", j.seed, number, s.Kind)
	for _, outcome := range outcomes {
		certain, contested := outcome.Prediction.Count("delete"), outcome.Prediction.Count("contested")
		line += fmt.Sprintf(" %s %d to %d (%d certain, %d contested, %d moments, %d steps, %d asked);", outcome.Name,
			outcome.From, outcome.To, certain, contested, outcome.Moments, outcome.Steps, outcome.Asked)
		j.totals.sets++
		if outcome.IsPlain() {
			j.totals.plain++
		}
		if outcome.Asked > 1 {
			j.totals.doubtful++
		}
		j.totals.gone += len(outcome.Gone)
		j.totals.certain += certain
		j.totals.contested += contested
		j.totals.safe += outcome.Prediction.Count("keep")
		c, err := record.Of(number, s.Kind, run, &outcome)
		if err != nil {
			return err
		}
		if c != nil {
			j.cases[number] = append(j.cases[number], c)
		}
	}
	if steps != nil {
		w := j.totals.wholes[s.Kind]
		if w == nil {
			w = &wholes{}
			j.totals.wholes[s.Kind] = w
		}
		w.rounds++
		if steps.Step.IsLast() {
			w.only++
		}
		w.changed += steps.Changed
		w.gone += steps.Of
		w.certain += steps.Certain
		w.contested += steps.Contested
		w.safe += steps.Safe
		line += fmt.Sprintf(" as a whole %s, %d sets changed;", steps.Step.Path, steps.Changed)
	}
	if wrong != nil {
		j.totals.violations++
		line += " WRONG: " + wrong.Error()
	} else {
		line += " ok"
	}
	_, err := fmt.Fprintln(j.log, line)
	return err
}

// keepRound writes down all that is known of a round that contradicts the preview, and prints what went and what the preview
// says of each set.
func (j *judge) keepRound(ctx context.Context, number int, s *scene.Scene, run *verdict.Run, wrong error) error {
	dir := filepath.Join(j.keep, fmt.Sprintf("seed-%d-round-%d", j.seed, number))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
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
		prediction, err := j.podrank.Ask(ctx, &preview.Question{Dump: run.Dump, Namespace: s.Namespace,
			Set: object.Kind + "/" + object.Metadata.Name, Replicas: counts[len(counts)-1], Now: run.Began, Order: "kubernetes"})
		if err != nil {
			fmt.Fprintln(&story, err)
			continue
		}
		for _, pod := range prediction.Pods {
			fmt.Fprintf(&story, "%s %s %s\n", pod.UID, pod.Name, pod.Verdict)
		}
	}
	fmt.Print(story.String())
	return errors.Join(run.Dump.Write(filepath.Join(dir, "dump.json")),
		os.WriteFile(filepath.Join(dir, "story.txt"), []byte(story.String()), 0o644))
}

func (j *judge) writeCases(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zip)
	var numbers []int
	for number := range j.cases {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		for _, c := range j.cases[number] {
			if err := encoder.Encode(c); err != nil {
				return err
			}
		}
	}
	return zip.Close()
}
