package engine

import (
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

// A method asks an engine one question, and returns all that it says.
type method struct {
	name string
	ask  func(e core.Engine, q *question) []any
}

// scratch is memory in which something is left from an earlier call.
func scratch[T uint32 | uint64](n int) []T { return slices.Repeat([]T{3}, n) }

// methods are those that decide.
var methods = []method{
	{"Select", func(e core.Engine, q *question) []any {
		selected, scratch := make([]uint32, q.k), []core.Scratch(nil)
		count, err := e.Select(q.pods, q.options, selected, &scratch)
		return []any{count, err, selected}
	}},
	{"Predict", func(e core.Engine, q *question) []any {
		n := len(q.pods)
		order := make([]uint32, n)
		certain, possible, err := e.Predict(q.pods, q.options, q.k, order, scratch[uint64](n))
		return []any{certain, possible, err, order}
	}},
	{"Probabilities", func(e core.Engine, q *question) []any {
		pods := q.pods
		if len(pods)%10 > 0 {
			// Of more than 12, it sorts thousands of lists, and that takes long.
			pods = pods[:min(len(pods), 12+len(pods)%2)]
		}
		order, probabilities := make([]uint32, len(pods)), make([]core.Probability, len(pods))
		certain, possible, err := e.Probabilities(pods, q.options, q.k, order, probabilities)
		return []any{certain, possible, err, order, probabilities}
	}},
	{"Kubernetes", func(e core.Engine, q *question) (answers []any) {
		for i := 1; i < len(q.pods); i++ {
			first, rule, err := e.Kubernetes(&q.pods[i-1], &q.pods[i], q.options)
			answers = append(answers, first, rule, err)
		}
		return answers
	}},
	{"Spread", func(e core.Engine, q *question) []any {
		ranked := slices.Clone(q.pods)
		err := e.Spread(ranked, q.others, q.options, scratch[uint32](len(q.weights)), scratch[uint32](len(ranked)))
		return []any{err, ranked}
	}},
	{"NodeWeights", func(e core.Engine, q *question) []any {
		neighbours, weights := slices.Clone(q.neighbours), slices.Clone(q.weights)
		return []any{e.NodeWeights(neighbours, weights), neighbours, weights}
	}},
	{"EmptyNodes", func(e core.Engine, q *question) []any {
		tiered := slices.Clone(q.pods)
		err := e.EmptyNodes(tiered, q.weights, q.domains, scratch[uint32](len(q.weights)+6))
		return []any{err, tiered}
	}},
	{"Steer", func(e core.Engine, q *question) []any {
		costs, unsteerable := make([]int32, len(q.pods)), make([]core.Unsteerable, len(q.pods))
		steered, err := e.Steer(q.pods, q.options, q.prices, costs, unsteerable)
		if err != nil {
			costs = nil // With an error, they are unspecified.
		}
		return []any{steered, err, costs, unsteerable[:steered.Unsteerable]}
	}},
	{"Explain", func(e core.Engine, q *question) (answers []any) {
		for i := 1; i < len(q.pods); i++ {
			var rows [core.RowMax]core.Row
			count, err := e.Explain(&q.pods[i-1], &q.pods[i], q.options, &rows)
			answers = append(answers, count, err, rows)
		}
		return answers
	}},
}
