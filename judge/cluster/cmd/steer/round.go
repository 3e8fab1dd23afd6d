package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/audit"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
	"github.com/podrank/podrank/judge/cluster/internal/wish"
)

// game is one round as it is played.
type game struct {
	*steer
	ctx      context.Context
	line     *line
	dir      string // for files of this round
	workload *scene.Workload
	c        *wish.Case
	plan     map[string]bool // the pods that podrank deletes without disturbances; nil if it refuses
	before   *verdict.State
	since    time.Time
	main     *launch
	story    map[string]any // more files to keep of a round with errors

	mutex   sync.Mutex
	r       *rand.Rand // for disturbances
	rivals  []*launch
	costs   map[string]string // the last foreign costs, by the names of the pods
	waiting sync.WaitGroup
	failed  []error
}

// begin makes the round's workload, draws what is asked of it, and gives the users their rights. If there is a limit of pods that go, all
// that is asked can be done.
func (s *steer) begin(ctx context.Context, number int, p plan) *game {
	r := rand.New(rand.NewPCG(s.Seed, uint64(number)))
	w := scene.BuildWorkload(ctx, s.Plane, s.history, r, fmt.Sprintf("steer-%d-", number), p.options)
	g := &game{steer: s, ctx: ctx, r: rand.New(rand.NewPCG(s.Seed, uint64(number)<<8)), workload: w, costs: map[string]string{},
		story: map[string]any{}, line: &line{Seed: s.Seed, Mode: s.mode, Round: number, Workload: w.Kind}}
	g.dir = must.Get(os.MkdirTemp("", "steer-*"))
	g.before = w.State(ctx)
	for {
		g.c = wish.Draw(r, w.Target, w.Active(), w.Strangers)
		if p.wish != nil {
			g.c = p.wish(g.c, r)
		}
		if g.planIt(); p.most == 0 || 0 < len(g.plan) && len(g.plan) <= p.most {
			break
		}
	}
	for _, name := range []string{user, rival} {
		grant(ctx, g.Plane, w.Namespace, name)
	}
	g.since = time.Now()
	return g
}

// arguments are those of the round's command.
func (g *game) arguments() []string {
	file := filepath.Join(g.dir, "values")
	must.Do(os.WriteFile(file, []byte(g.c.Values()), 0o644))
	return g.c.Arguments(file)
}

// planIt asks which pods podrank selects. If podrank refuses, the command must fail for the same reason when it runs.
func (g *game) planIt() {
	g.plan, g.line.Expect = nil, "infeasible"
	arguments := append(g.arguments(), "-n", g.workload.Namespace, "-o", "json", "--dry-run=client")
	ran := must.Get(g.Podrank.Run(g.ctx, nil, nil, arguments...))
	if ran.Exit == 0 && ran.Document != nil {
		g.plan, g.line.Expect = ran.Document.Selected(), "feasible"
	}
}

// isUsable makes a run that hangs or prints nonsense a wrong round. Other errors end the round.
func (g *game) isUsable(ran *preview.Ran, err error) bool {
	if err == nil {
		return true
	}
	if ran == nil || g.ctx.Err() != nil {
		must.Do(err)
	}
	g.is(broken, err)
	return false
}

// restored says what podrank has left behind.
func (g *game) restored() error {
	after := g.workload.State(g.ctx)
	g.story["after"] = after
	costs := map[types.UID]string{}
	for uid, pod := range after.Pods {
		if cost, isTheirs := g.costs[pod.Name]; isTheirs {
			costs[uid] = cost
		}
	}
	return verdict.Restored(g.before, after, costs, g.c.Keep)
}

// is notes the result.
func (g *game) is(r result, wrong ...error) {
	g.line.Result = r
	if err := errors.Join(wrong...); err != nil {
		g.line.Result = broken
		g.line.Message = strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")+" "+g.line.Message), " ")
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// wishes plays a round without disturbances.
func (g *game) wishes() {
	g.main = g.launch(user, g.arguments()...)
	g.main.json = true
	if !g.play(g.main, nil) {
		return
	}
	wrong, ran := g.judgeRuns(), g.main.ran
	wrong = append(wrong, g.restored())
	switch {
	case g.plan == nil:
		if ran.Exit != 1 || g.hasWritten(user) {
			wrong = append(wrong, fmt.Errorf("the plan is refused, and the run ends with %d, or wrote something", ran.Exit))
		}
		g.is(refused, wrong...)
	case ran.Exit == 1:
		g.is(gaveUp, wrong...)
	case ran.Exit != 0 || ran.Document == nil:
		g.is(broken, append(wrong, errors.New("not exactly the wanted pods went"))...)
	default:
		wanted := ran.Document.Selected()
		if len(wanted) != len(g.plan) {
			wrong = append(wrong, fmt.Errorf("%d pods are wanted, and %d were planned", len(wanted), len(g.plan)))
		}
		if !g.workload.Rolls { // else each of its sets loses a share
			wrong = append(wrong, g.c.Check(wanted))
		}
		g.Count("wanted pods that went", len(wanted))
		g.is(took, wrong...)
	}
}

// hasWritten says whether a user has changed anything in the round, with its Lease.
func (g *game) hasWritten(user string) bool {
	return slices.ContainsFunc(g.audit.Of(g.workload.Namespace), func(event audit.Event) bool { return event.User == user })
}

// manyPods selects 600 pods, more than one sync of the controller deletes.
func manyPods(c *wish.Case, _ *rand.Rand) *wish.Case {
	return &wish.Case{Target: c.Target, Pods: c.Pods, To: 20,
		Wishes: []wish.Wish{{Flag: "--prefer-pods", Value: "!" + wish.Draining}, {Flag: "--prefer-nodes", Value: wish.Lifecycle + "=spot"}}}
}

// wholeNodes prefers that nodes become empty.
func wholeNodes(c *wish.Case, r *rand.Rand) *wish.Case {
	return &wish.Case{Target: c.Target, Pods: c.Pods, To: r.IntN(len(c.Pods)), Wishes: []wish.Wish{{Flag: "--empty-nodes"}}}
}

// whole takes whole nodes, and compares how many become empty with how many can: those with the fewest pods take the fewest deletions.
func (g *game) whole() {
	own, others := g.workload.Nodes()
	best, left := 0, len(g.plan)
	for _, node := range slices.SortedFunc(maps.Keys(own), func(a, b string) int { return own[a] - own[b] }) {
		if others[node] == 0 && own[node] <= left {
			left -= own[node]
			best++
		}
	}
	if g.wishes(); g.line.Result != took {
		return
	}
	emptied, told := 0, 0
	after, _ := g.workload.Nodes()
	for node := range own {
		if after[node]+others[node] == 0 {
			emptied++
		}
	}
	for _, node := range g.main.ran.Document.Nodes {
		if node.BecomesEmpty {
			told++
		}
	}
	g.Count("nodes that could become empty", best)
	g.Count("nodes that became empty", emptied)
	if emptied != best || told != best {
		g.is(broken, fmt.Errorf("%d nodes became empty, %d were told, and %d could", emptied, told, best))
	}
}

// keepRound keeps all files of a round with errors.
func (g *game) keepRound() {
	maps.Copy(g.story, map[string]any{"line": g.line, "values": g.c.Values(), "template's cost": g.workload.Template, "plan": g.plan,
		"before": g.before})
	dir := fmt.Sprintf("steer-%d-%s-%d", g.Seed, g.mode, g.line.Round)
	g.Keep(dir, "story.json", must.Get(json.MarshalIndent(g.story, "", " ")))
}
