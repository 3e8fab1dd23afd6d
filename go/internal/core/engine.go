package core

// An Engine is the core of podrank in one of its forms: it decides over records and numbers. Any number of goroutines may use
// one. It keeps nothing that it is given, and never panics.
type Engine interface {
	// Name says which one it is: "libpodrank" or "translated".
	Name() string
	// Version is the release of podrank that it was made of.
	Version() string

	// Select writes the first len(victims) of records to victims and returns how many there were. scratch is for the engine
	// to use again in the next call.
	Select(records []Pod, options Options, victims []uint32, scratch *[]Scratch) (int, error)
	// Settle writes all of records to order, the certain victims of k first, then the contested, and returns how many there
	// are of both. order and scores have room for all.
	Settle(records []Pod, options Options, k int, order []uint32, scores []uint64) (certain, contested int, err error)
	// Odds writes what Settle writes to order, and how likely each record is deleted to odds. All have room for all records.
	Odds(records []Pod, options Options, k int, order []uint32, odds []PodOdds) (certain, contested int, err error)
	// Spread gives records ranks that count again after each pick. Node numbers are below len(counts); order has room for all.
	Spread(records, others []Pod, options Options, counts, order []uint32) error
	// NodeWeights adds to weights what neighbours weigh on each node, and sorts them. Node numbers are below len(weights).
	NodeWeights(neighbours []Neighbour, weights []uint64) error
	// EmptyNodes splits the tiers of records by nodes. Node numbers are below len(weights). domains has a number for each of these nodes, for
	// each level; counts has room for each node and each domain number.
	EmptyNodes(records []Pod, options Options, weights []uint64, domains, counts []uint32) error
	// Steer writes costs that follow the tiers of records, and which of these are blocked; costs and blocked have room for
	// all, and prices, a byte for each, may be empty. With ErrNoRoom, Lower and Higher are set.
	Steer(records []Pod, options Options, prices []uint8, costs []int32, blocked []Blocked) (Steered, error)
	// Explain writes every rule's answer on a and b to rows and returns how many there are.
	Explain(a, b *Pod, options Options, rows *[RowMax]Row) (int, error)
	// Upstream says whether kube-controller-manager calls a before b (-1), b before a (1) or neither, and by which rule.
	Upstream(a, b *Pod, options Options) (before int, rule uint8, err error)

	// Plan says how many pods one sync creates or deletes.
	Plan(state PlanState) (creations, deletions uint32, err error)
	// BeginSlowStart makes a SlowStart of so many pods.
	BeginSlowStart(count uint32) (SlowStart, error)
	// ReportSlowStart says how many of the batch failed.
	ReportSlowStart(start *SlowStart, failures uint32) error
	// ExpectCreations expects so many creations and no deletion.
	ExpectCreations(e *Expectations, count uint32, now int64) error
	// ExpectDeletions expects the deletion of these keys and no creation. room has as many places.
	ExpectDeletions(e *Expectations, room, keys []PodKey, now int64) error
	// CreationsObserved takes so many creations for seen.
	CreationsObserved(e *Expectations, count uint32) error
	// DeletionObserved takes a deletion for seen, and says whether it was expected. room is that of ExpectDeletions.
	DeletionObserved(e *Expectations, room []PodKey, key PodKey) (counted bool, err error)
	// Satisfied says whether the set may act.
	Satisfied(e *Expectations, now int64) (bool, error)
	// Availability counts the ready and available records, and says in how many nanoseconds to look again: 0 for never.
	Availability(records []Pod, minReadySeconds uint32, now int64) (ready, available int, lookAgain uint64, err error)
}
