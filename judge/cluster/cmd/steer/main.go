// Steer plays rounds on the control plane that KUBECONFIG and ETCD name, beside busy clients. Each round scales a random
// workload by random wishes with kubectl-podrank, and compares the pods that went, by UID, with those that were wanted and
// with what the harness itself expects.
//
//	steer [-from N] [-plain|-interrupts|-disturbances] [-busy CLIENTS] [-parallel ROUNDS]
//	      -podrank PROGRAM -log FILE -keep DIR N SEED
//
// The program under test also runs it as $KUBECTL. Then it calls kubectl, and makes something go wrong at one of the calls.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/crowd"
	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

type steer struct {
	plane   *control.Plane
	history *history.History
	podrank preview.Program
	seed    uint64
	keep    string
	mode    string

	mutex sync.Mutex
	log   *os.File
	done  map[int]bool
}

func main() {
	if fault.IsStandIn() {
		fault.StandIn()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "steer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	from := flag.Int("from", 1, "the first round")
	parallel := flag.Int("parallel", 4, "rounds at a time")
	busy := flag.Int("busy", 16, "busy clients")
	podrank := flag.String("podrank", "kubectl-podrank", "the program under test")
	logDir := flag.String("log", ".", "the directory of the logs, which get a line for each round")
	keep := flag.String("keep", ".", "the directory for what was found wrong")
	plain := flag.Bool("plain", false, "kubectl annotate and kubectl scale instead of podrank")
	interrupts := flag.Bool("interrupts", false, "signals and failures at every call of kubectl")
	disturbances := flag.Bool("disturbances", false, "others change the pods and the workload meanwhile")
	flag.Parse()
	count, err1 := strconv.Atoi(flag.Arg(0))
	seed, err2 := strconv.ParseUint(flag.Arg(1), 10, 64)
	if err := errors.Join(err1, err2); err != nil || flag.NArg() != 2 {
		return fmt.Errorf("want a number of rounds and a seed: %w", err)
	}
	s := &steer{podrank: preview.Program(*podrank), seed: seed, keep: *keep, mode: "wishes", done: map[int]bool{}}
	play := s.wishes
	for _, mode := range []struct {
		given bool
		name  string
		play  func(context.Context, int, *line) error
	}{{*plain, "plain", s.plain}, {*interrupts, "interrupts", s.interrupts}, {*disturbances, "disturbances", s.disturbances}} {
		if mode.given && s.mode != "wishes" {
			return errors.New("-plain, -interrupts and -disturbances exclude each other")
		}
		if mode.given {
			s.mode, play = mode.name, mode.play
		}
	}

	var err error
	if s.plane, err = control.Connect(); err != nil {
		return err
	}
	if s.history, err = history.Follow(ctx, s.plane, crowd.Namespaces(*busy)...); err != nil {
		return err
	}
	s.history.Patience = 3 * time.Minute
	if err := createUsers(ctx, s.plane); err != nil {
		return err
	}
	logFile := filepath.Join(*logDir, fmt.Sprintf("steer-%d-%s.jsonl", seed, s.mode))
	if s.log, err = os.OpenFile(logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	defer s.log.Close()
	clients, err := crowd.Start(ctx, s.plane, *busy)
	if err != nil {
		return err
	}

	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(*parallel)
	for number := *from; number <= count && ctx.Err() == nil; number++ {
		group.Go(func() error { return s.round(ctx, number, play) })
	}
	if err := group.Wait(); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		next := *from
		for s.done[next] {
			next++
		}
		return fmt.Errorf("%w; to go on, give FROM %d", err, next)
	}
	rate, failed := clients.Rate()
	fmt.Printf("%d rounds in %s beside %d busy clients, whose %.0f requests a second failed at %.1f %%\n", count-*from+1,
		time.Since(began).Round(time.Second), *busy, rate, 100*failed)
	lines, err := readLines(logFile, count)
	if err != nil {
		return err
	}
	return summarize(os.Stdout, s.mode, lines)
}

// round plays one round and writes its line. An error is one of the control plane; what podrank does wrong is a line.
func (s *steer) round(ctx context.Context, number int, play func(context.Context, int, *line) error) error {
	l := &line{Seed: s.seed, Mode: s.mode, Round: number}
	if err := play(ctx, number, l); err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.done[number] = true
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if l.isBad() {
		fmt.Printf("round %d: %s: %s: %s\n", number, l.Result, l.Command, l.Message)
	}
	_, err = fmt.Fprintf(s.log, "%s\n", text)
	return err
}
