package core

// An Engine is podrank's core: it decides about records and numbers. Any number of goroutines may use one. It keeps
// nothing that it is given.
//
// Records and options must be valid, and numbers in the ranges that the methods name. An engine in Go panics
// otherwise, and libpodrank returns an error. The module makes all of them itself, from pods and options that it has
// checked.
type Engine interface {
	// Name is "libpodrank" or "plain".
	Name() string
	// Version is the release of podrank that it is from.
	Version() string

	// Select writes the indices of the first len(selected) records of the order to selected, and returns how many
	// there are. scratch is the engine's own, for the next call.
	Select(records []Pod, options Options, selected []uint32, scratch *[]Scratch) (int, error)
	// Predict writes the indices of all records to order: those that Kubernetes certainly deletes if it deletes k,
	// those that it possibly deletes, and those that it keeps. It returns how many there are of the first two. scores
	// is scratch memory. It and order are as long as records.
	Predict(records []Pod, options Options, k int, order []uint32, scores []uint64) (certain, possible int, err error)
	// Probabilities writes to order what Predict writes, and how likely Kubernetes deletes each record to
	// probabilities. Both are as long as records.
	Probabilities(records []Pod, options Options, k int, order []uint32, probabilities []Probability) (
		certain, possible int, err error)
	// Kubernetes says whether kube-controller-manager puts a before b (-1), b before a (1) or neither, and by which
	// rule.
	Kubernetes(a, b *Pod, options Options) (first int, rule uint8, err error)
	// Spread gives records ranks that are counted again after each deletion. The numbers of nodes are below
	// len(counts). counts and order are scratch memory, and order is as long as records.
	Spread(records, others []Pod, options Options, counts, order []uint32) error
	// NodeWeights adds to weights what neighbours weigh on each node, and sorts neighbours. The numbers of nodes are
	// below len(weights).
	NodeWeights(neighbours []Neighbour, weights []uint64) error
	// EmptyNodes splits the tiers of records by nodes. The numbers of nodes are below len(weights). domains has the
	// number of the domain of each node, for one level after the other. counts is scratch memory, for each node and
	// each domain.
	EmptyNodes(records []Pod, weights []uint64, domains, counts []uint32) error
	// Steer writes costs that follow the tiers of records, and which of these are deleted before one of a lower tier
	// in any case. costs and unsteerable are as long as records, and so is prices, or it is empty. If the error is
	// ErrNoRoom, the result has Lower and Higher.
	Steer(records []Pod, options Options, prices []uint8, costs []int32, unsteerable []Unsteerable) (Steered, error)
	// Explain writes what every rule says about a and b to rows, and returns how many rules there are.
	Explain(a, b *Pod, options Options, rows *[RowMax]Row) (int, error)
}
