package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/shown"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// launch is one run of podrank in a round.
type launch struct {
	user        string
	command     []string
	prompted    bool // at a terminal, and asked
	json        bool
	refuses     int // the question that is answered with no; none if 0
	environment []string

	calls fault.Calls
	ran   *preview.Ran
	ended time.Time
}

// launch is a run with --yes that prints tables. Its calls have a directory of their own from now on, which those who wait for one watch.
func (g *game) launch(user string, command ...string) *launch {
	return &launch{user: user, command: command, calls: fault.Calls{Dir: must.Get(os.MkdirTemp(g.dir, "calls-"))}}
}

// drawLaunch draws how the round's command is run. With --yes it may plan again without a word, so that only its document says which pods
// count as confirmed. A run that is killed prints no document, so it prints its plan as a table.
func (g *game) drawLaunch(user string, drawn []drawnDisturbance) *launch {
	l := g.launch(user, g.arguments()...)
	isAtPrompt := slices.ContainsFunc(drawn, func(one drawnDisturbance) bool { return one.where.prompt > 0 })
	isKilled := slices.ContainsFunc(drawn, func(one drawnDisturbance) bool { return one.signal == fault.Kill })
	l.prompted = g.intN(2) == 0 || isAtPrompt
	l.json = (g.intN(2) == 0 || !l.prompted) && !isKilled
	if l.prompted && g.intN(12) == 0 {
		l.refuses = 1 + g.intN(2)
	}
	return l
}

// argumentsOf are those of the program.
func (g *game) argumentsOf(l *launch) []string {
	arguments := append(slices.Clone(l.command), "-n", g.workload.Namespace, "--as", l.user, "--timeout", g.timeout)
	if !l.prompted {
		arguments = append(arguments, "--yes")
	}
	if l.json {
		arguments = append(arguments, "-o", "json")
	}
	return arguments
}

// run runs the launch to its end. At each prompt, what is drawn for it happens before the answer.
func (g *game) run(l *launch, faults []fault.Fault, drawn []drawnDisturbance) error {
	environment := append(l.calls.Environment(faults...), l.environment...)
	arguments := g.argumentsOf(l)
	if l == g.main {
		g.line.Command = strings.Join(arguments, " ")
	}
	limited, stop := context.WithTimeout(g.ctx, g.bound)
	defer stop()
	var answer func(int, *os.Process) string
	if l.prompted {
		answer = func(n int, process *os.Process) string { return g.answer(l, drawn, n, process) }
	}
	var err error
	l.ran, err = g.Podrank.Run(limited, environment, answer, arguments...)
	l.ended = time.Now()
	if l.ran == nil {
		return err
	}
	if l == g.main {
		g.line.Exit = l.ran.Exit
	}
	return err
}

// answer is what is typed at a prompt, after what happens there.
func (g *game) answer(l *launch, drawn []drawnDisturbance, n int, process *os.Process) string {
	for _, one := range drawn {
		if one.where.prompt != n {
			continue
		}
		g.happened(one)
		if one.signal == fault.Interrupt {
			return "\x03" // Ctrl-C
		}
		if signal, known := fault.Signals[one.signal]; known {
			must.Do(process.Signal(signal))
			return ""
		}
		g.attempt(func() { one.do(g) })
	}
	if n == l.refuses {
		return "n\n"
	}
	return "y\n"
}

// seen is what the runs showed and said, and what contradicts itself in it.
func (g *game) seen(runs []*launch) (all []*verdict.Seen, wrong []error) {
	for _, l := range runs {
		s := &verdict.Seen{User: l.user, Exit: l.ran.Exit, Signal: l.ran.Signal, Document: l.ran.Document, Ended: l.ended,
			Keeps: l == g.main && g.c.Keep}
		stdout := l.ran.Stdout
		if l.ran.Document != nil {
			stdout = ""
		}
		told, err := shown.Read(stdout, l.ran.Stderr, !l.prompted)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", l.user, err))
		}
		s.Confirmed, s.Refused = told.Confirmed, told.Refused
		if !told.HasPlan && l.ran.Document != nil {
			s.Confirmed = l.ran.Document.Selected()
			wrong = append(wrong, agrees(l, told)...)
		}
		s.Said = said(l.ran)
		s.LastRead, s.LastLook = readings(l.calls.List())
		if !l.prompted && l.ran.Signal == syscall.SIGKILL {
			s.LastRead = g.since // it may have planned again since, and has not said so
		}
		all = append(all, s)
	}
	return all, wrong
}

// agrees holds the differences that were shown against the pods that the document wants.
func agrees(l *launch, told *shown.Shown) (wrong []error) {
	wanted := l.ran.Document.Selected()
	if l.ran.Exit != 0 && l.ran.Exit != 3 {
		return nil // the last difference may not have been confirmed
	}
	for pod := range told.Added {
		if !wanted[pod] {
			wrong = append(wrong, fmt.Errorf("%s: it said +%s, and does not want it", l.user, pod))
		}
	}
	for pod := range told.Removed {
		if wanted[pod] {
			wrong = append(wrong, fmt.Errorf("%s: it said -%s, and wants it", l.user, pod))
		}
	}
	return wrong
}

// said is the last sentence of a run.
func said(ran *preview.Ran) string {
	if ran.Document != nil {
		return ran.Document.Message
	}
	if at := strings.LastIndex(ran.Stderr, "error: "); at >= 0 {
		return ran.Stderr[at:]
	}
	return lastLine(ran.Stdout)
}

// readings are when the last reading of pods before the last count began, and when the last of all did.
func readings(calls []fault.Call) (beforeCount, last time.Time) {
	isOfPods := func(call fault.Call) bool {
		return (call.Kind == fault.Read || call.Kind == fault.Look) && strings.Contains(call.Arguments, "pods")
	}
	count := -1
	for i, call := range calls {
		if call.Kind == fault.Count {
			count = i
		}
	}
	for i, call := range calls {
		if !isOfPods(call) {
			continue
		}
		if i < count {
			beforeCount = call.Began
		}
		last = call.Began
	}
	return beforeCount, last
}
