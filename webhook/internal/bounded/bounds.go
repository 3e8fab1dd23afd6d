// Package bounded has what others can take of this program, and what holds them to it. Whoever reaches a port, or makes objects in a namespace,
// decides how many and how large. The constants below decide how much of that is taken on at a time. docs/webhook.md has them as a table, which
// `BOUNDS=write go test ./internal/bounded` makes of this file.
package bounded

import (
	"time"
	"unique"
)

// What all who reach a port can take together, before anything is known of a request.
const (
	// Connections is open connections of a port.
	// Protects: memory, from whoever reaches a port.
	// Beyond: a new connection waits until another one is closed.
	Connections = 1000
	// HeaderBytes is headers of a request.
	// Protects: memory, from whoever reaches a port.
	// Beyond: status 431.
	HeaderBytes = 4 << 10
	// RequestTime is a handshake, and a request until all of it has come.
	// Protects: connections and memory, from whoever sends slowly.
	// Beyond: the connection is closed.
	RequestTime = 3 * time.Second
	// IdleTime is a connection without requests.
	// Protects: connections, from whoever leaves them open.
	// Beyond: the connection is closed.
	IdleTime = 90 * time.Second
	// ReviewBytes is one request: twice the largest object that Kubernetes stores, and some more.
	// Protects: memory, from whoever reaches port 9443.
	// Beyond: status 413. The API server lets the scale-down through, as it does with each refusal here.
	ReviewBytes = 4 << 20
	// AllReviewsBytes is all requests until they are answered. Decoded, they take several times as much.
	// Protects: memory, from whoever reaches port 9443.
	// Beyond: a request waits for ReviewTime, and then gets status 503.
	AllReviewsBytes = 24 << 20
	// ReviewTime is that wait.
	// Protects: the same.
	// Beyond: status 503.
	ReviewTime = time.Second
	// NameBytes is a name in a request.
	// Protects: memory, from whoever forges requests.
	// Beyond: status 400.
	NameBytes = 253
	// Renderings is answers about metrics at a time.
	// Protects: memory, of which each takes half a megabyte, from whoever reads slowly.
	// Beyond: status 503.
	Renderings = 4
)

// What one namespace can take, and all together.
const (
	// DecisionsBurst is seconds' worth of decisions at once, of --decisions-per-second, after as long without any.
	// Protects: the API server, from forged requests.
	// Beyond: TooMany.
	DecisionsBurst = 5
	// DecisionsOfOne is decisions about one scale-down, by all replicas, if the API server asks about it again and again since the set changes.
	// Protects: scale-downs, from pods that change all the time.
	// Beyond: Unsettled.
	DecisionsOfOne = 2
	// DecisionFailures is decisions of a namespace, or waits for the controller, that run out of time one after the other.
	// Protects: whoever scales in other namespaces, since the Deployment controller has five workers in all.
	// Beyond: for some time, nothing is decided (CircuitOpen), or nobody waits (Unconfirmed).
	DecisionFailures = 5
	// DecisionRest is that time.
	// Protects: the same.
	// Beyond: one more decision.
	DecisionRest = 10 * time.Second
	// RepeatTime is the time in which a request is about the same scale-down as an earlier one.
	// Protects: the same.
	// Beyond: it is decided as a new one.
	RepeatTime = 10 * time.Second
	// Repeats is scale-downs that a replica remembers for that time.
	// Protects: memory, from whoever makes sets.
	// Beyond: marks on pods tell of the others.
	Repeats = 500
	// RepeatPods is the selected pods of each of these that it remembers.
	// Protects: the same.
	// Beyond: only whether these are still there counts.
	RepeatPods = 500
	// DecisionPods is pods in memory for decisions of one namespace, one to two kilobytes each.
	// Protects: memory, from whoever makes pods and sets.
	// Beyond: TooMany.
	DecisionPods = 10_000
	// AllDecisionPods is the same of all namespaces.
	// Protects: memory, from many namespaces.
	// Beyond: TooMany.
	AllDecisionPods = 40_000
	// PredictionPods is pods in memory for what is only observed, of one namespace. To be compared, a set may have half of that.
	// Protects: memory, and decisions, which need the other rooms.
	// Beyond: TooMany.
	PredictionPods = 5_000
	// AllPredictionPods is the same of all namespaces.
	// Protects: memory, from many namespaces.
	// Beyond: TooMany.
	AllPredictionPods = 20_000
	// Comparisons is scale-downs of one namespace that are being observed.
	// Protects: memory, and what reads for decisions.
	// Beyond: TooMany.
	Comparisons = 20
	// Reports is answers of one namespace that wait to be reported.
	// Protects: memory, from many requests.
	// Beyond: only the metric counts them. If such a request failed, the leader takes its costs off.
	Reports = 50
	// Policies is policies of one namespace, which each decision reads.
	// Protects: processor time, from whoever makes policies.
	// Beyond: Failed.
	Policies = 50
	// Siblings is other ReplicaSets of one controller that have pods, each of which takes two requests.
	// Protects: the API server, from whoever makes sets.
	// Beyond: Failed.
	Siblings = 20
	// PodBytes is the metadata of one pod, which each write of a cost returns.
	// Protects: memory, from whoever makes pods.
	// Beyond: Failed.
	PodBytes = 384 << 10
	// KeptBytes is a selector, a reference to a controller or an annotation, since they are kept until a scale-down is over.
	// Protects: memory, from whoever makes sets.
	// Beyond: Failed. An annotation counts as none.
	KeptBytes = 16 << 10
	// OddsPods is pods of a set for which odds are worked out.
	// Protects: processor time: more take a second and longer.
	// Beyond: the prediction has no odds.
	OddsPods = 500
	// ValueRows is values of one read that are in memory, each for a pod.
	// Protects: memory, from whoever makes metrics.
	// Beyond: no value counts.
	ValueRows = 10_000
	// AllValueRows is the same of all reads within a second, of which one namespace has half.
	// Protects: memory, from many namespaces.
	// Beyond: the same.
	AllValueRows = 40_000
	// ValuePause is the time from one read of a metric or query in a namespace, or of a resource of a set, to the next.
	// Protects: adapters, whose requests HorizontalPodAutoscalers need.
	// Beyond: who comes shares the earlier read. With another selector, a read waits for its turn, or is not made if that is too late.
	ValuePause = time.Second
	// ValueFailures is reads of a metric in a namespace that fail one after the other.
	// Protects: scale-downs, from an adapter that hangs.
	// Beyond: nothing is read for some time, and no value counts.
	ValueFailures = 3
	// ValueRest is that time.
	// Protects: the same.
	// Beyond: one more read.
	ValueRest = 30 * time.Second
)

// What is done at a time, whoever asks for it.
const (
	// AnswerBytes is one answer of the API server. Decoded, it may take twenty times as much.
	// Protects: memory, from whoever makes large objects.
	// Beyond: a list is read in pages, and a single object not at all.
	AnswerBytes = 2 << 20
	// Answers is such answers in memory at a time, of what decisions read.
	// Protects: memory.
	// Beyond: a read waits for its turn.
	Answers = 3
	// ValueBytes is one answer of an adapter or of Prometheus.
	// Protects: memory.
	// Beyond: no value counts.
	ValueBytes = 4 << 20
	// ValueReads is such answers at a time, of each API and of Prometheus, each for another namespace.
	// Protects: memory.
	// Beyond: a read waits for its turn.
	ValueReads = 3
	// ValueTime is a read of values, with its wait for others, or 36 % of what is left of the deadline, if that is shorter.
	// Protects: scale-downs, from an adapter that hangs.
	// Beyond: no value counts.
	ValueTime = 720 * time.Millisecond
	// ValueSkew is how far in the future a value may be, since clocks differ.
	// Protects: the order, from wrong clocks.
	// Beyond: it is no value.
	ValueSkew = 5 * time.Second
	// Page is objects in a page of a list.
	// Protects: memory.
	// Beyond: there are more pages.
	Page = 200
	// Writes is costs that are being written.
	// Protects: the API server.
	// Beyond: a write waits for its turn.
	Writes = 16
	// Undos is costs that are being taken off. Pods may have become large by then.
	// Protects: memory, and the writes that requests wait for.
	// Beyond: the cost stays for some longer.
	Undos = 4
	// BarrierPods is barrier pods at a time.
	// Protects: the API server and the ReplicationController controller.
	// Beyond: who comes shares the next one.
	BarrierPods = 4
	// CleanupSets is sets that the leader looks at, each of another namespace.
	// Protects: the sets of other namespaces, from one with many pods.
	// Beyond: a set waits for its turn.
	CleanupSets = 4
	// CleanupPods is pods of a set that are judged before it is the turn of others.
	// Protects: the same.
	// Beyond: the rest follows soon.
	CleanupPods = 200
	// NoteBytes is the text of an event, or of an entry in a status.
	// Protects: what is stored. API servers refuse events with more than 1,024.
	// Beyond: the text is cut.
	NoteBytes = 1000
	// Workloads is workloads in the status of a policy.
	// Protects: what is stored.
	// Beyond: the oldest one is dropped, and counted.
	Workloads = 20
	// RecordPods is pods of a decision that are named in the log and in the annotation of an event, and in memory until then.
	// Protects: memory, and what is stored, from whoever makes pods. Container runtimes split longer lines.
	// Beyond: the line and the annotation say how many more there are.
	RecordPods = 100
)

// Once returns a text that shares its memory with equal ones.
func Once(text string) string { return unique.Make(text).Value() }
