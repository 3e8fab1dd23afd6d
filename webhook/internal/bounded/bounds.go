// Package bounded limits what clients and users can take of this program. A client that reaches a port, and a user who creates objects in
// a namespace, decide how many there are and how large. The constants below decide how much of that podrank-webhook accepts. DESIGN.md
// has them as a table, which `BOUNDS=write go test ./internal/bounded` makes of this file.
package bounded

import (
	"time"
	"unique"
)

// What all clients of a port can take together, before anything is known of a request.
const (
	// Connections is open connections of a port.
	// Protects: memory, from clients that reach a port.
	// Beyond: a connection waits until another one is closed.
	Connections = 1000
	// HeaderBytes is the headers of a request.
	// Protects: memory.
	// Beyond: status 431.
	HeaderBytes = 4 << 10
	// RequestTime is the time of a handshake, and of reading a request.
	// Protects: connections and memory, from slow clients.
	// Beyond: the connection is closed.
	RequestTime = 3 * time.Second
	// IdleTime is the time without a request on a connection.
	// Protects: connections.
	// Beyond: the connection is closed.
	IdleTime = 90 * time.Second
	// ReviewBytes is one request: more than twice the largest object that Kubernetes stores.
	// Protects: memory, from clients that reach port 9443.
	// Beyond: status 413: the API server continues unsteered.
	ReviewBytes = 4 << 20
	// AllReviewsBytes is all unanswered requests, before they are decoded.
	// Protects: memory.
	// Beyond: a request waits, but not longer than ReviewTime.
	AllReviewsBytes = 24 << 20
	// ReviewTime is how long a request waits for AllReviewsBytes.
	// Protects: memory.
	// Beyond: status 503.
	ReviewTime = time.Second
	// NameBytes is a name in a request.
	// Protects: memory.
	// Beyond: status 400.
	NameBytes = 253
	// Renderings is simultaneous reads of the metrics.
	// Protects: memory, from slow clients.
	// Beyond: status 503.
	Renderings = 4
)

// What one namespace can take, and all together.
const (
	// DecisionsBurst is seconds' worth of unused --decisions-per-second that accumulate.
	// Protects: the API server, from forged requests.
	// Beyond: TooMany.
	DecisionsBurst = 5
	// DecisionsOfOne is decisions of all replicas about one scale-down.
	// Protects: scale-downs whose pods change all the time.
	// Beyond: Unsettled.
	DecisionsOfOne = 2
	// DecisionFailures is consecutive late decisions, or late waits for the controller, of a namespace.
	// Protects: the Deployment controller's five workers.
	// Beyond: CircuitOpen, or Unconfirmed.
	DecisionFailures = 5
	// DecisionRest is the time until podrank-webhook tries again.
	// Protects: the same.
	// Beyond: one more decision.
	DecisionRest = 10 * time.Second
	// RepeatTime is the time in which a request repeats an earlier one.
	// Protects: the same.
	// Beyond: a new decision.
	RepeatTime = 10 * time.Second
	// Repeats is recent scale-downs in memory.
	// Protects: memory.
	// Beyond: annotations tell about the others.
	Repeats = 500
	// RepeatPods is pods of each of these, the selected ones first.
	// Protects: memory.
	// Beyond: whether other pods changed doesn't count.
	RepeatPods = 500
	// DecisionPods is pods in memory for decisions of a namespace.
	// Protects: memory, from users who create pods.
	// Beyond: TooMany.
	DecisionPods = 10_000
	// AllDecisionPods is the same of all namespaces.
	// Protects: memory.
	// Beyond: TooMany.
	AllDecisionPods = 40_000
	// PredictionPods is pods in memory for predictions of a namespace, and twice those of one workload.
	// Protects: memory.
	// Beyond: TooMany.
	PredictionPods = 5_000
	// AllPredictionPods is the same of all namespaces.
	// Protects: memory.
	// Beyond: TooMany.
	AllPredictionPods = 20_000
	// Reports is answers of a namespace that wait to be reported.
	// Protects: memory.
	// Beyond: they are in the log and the metric alone.
	Reports = 50
	// Policies is policies of a namespace, which each decision reads.
	// Protects: processor time.
	// Beyond: Failed.
	Policies = 50
	// RelatedSets is other ReplicaSets with pods of one controller.
	// Protects: the API server.
	// Beyond: Failed.
	RelatedSets = 20
	// PodBytes is the metadata of one pod.
	// Protects: memory, from users who create pods.
	// Beyond: Failed.
	PodBytes = 384 << 10
	// KeptBytes is a selector, an owner reference or an annotation.
	// Protects: memory.
	// Beyond: Failed. An annotation is ignored.
	KeptBytes = 16 << 10
	// ProbabilityPods is pods of a ReplicaSet with probabilities.
	// Protects: processor time.
	// Beyond: the prediction has no probabilities.
	ProbabilityPods = 500
	// ValueRows is values of one read.
	// Protects: memory, from users who create metrics.
	// Beyond: no value counts.
	ValueRows = 10_000
	// RecentValues is reads in memory.
	// Protects: memory.
	// Beyond: the oldest one is read again.
	RecentValues = 16
	// ValuePause is the time between equal reads in a namespace.
	// Protects: adapters, which HorizontalPodAutoscalers need.
	// Beyond: requests share the earlier read.
	ValuePause = time.Second
	// ValueFailures is consecutive failed reads of a metric in a namespace.
	// Protects: scale-downs, from adapters that hang.
	// Beyond: no read and no value for ValueRest.
	ValueFailures = 3
	// ValueRest is that time.
	// Protects: the same.
	// Beyond: one more read.
	ValueRest = 30 * time.Second
)

// Limits of simultaneous work for all clients and users.
const (
	// AnswerBytes is one response of the API server, before it is decoded.
	// Protects: memory, from large objects.
	// Beyond: a list is read in pages, a larger object is an error.
	AnswerBytes = 2 << 20
	// Answers is such responses in memory.
	// Protects: memory.
	// Beyond: a read waits.
	Answers = 3
	// ValueBytes is one response of an adapter or of Prometheus.
	// Protects: memory.
	// Beyond: no value counts.
	ValueBytes = 4 << 20
	// ValueReads is such responses of one API in memory.
	// Protects: memory.
	// Beyond: a read waits.
	ValueReads = 3
	// ValueTime is a read of values, or 36% of the remaining deadline if that is shorter.
	// Protects: scale-downs, from adapters that hang.
	// Beyond: no value counts.
	ValueTime = 720 * time.Millisecond
	// ValueSkew is how far in the future a value may be.
	// Protects: the deletion order, from wrong clocks.
	// Beyond: the value is ignored.
	ValueSkew = 5 * time.Second
	// Page is objects in a page of a list.
	// Protects: memory.
	// Beyond: there are more pages.
	Page = 200
	// Writes is simultaneous writes of costs.
	// Protects: the API server.
	// Beyond: a write waits.
	Writes = 16
	// Undos is simultaneous removals of costs.
	// Protects: memory, and the writes of decisions.
	// Beyond: the cost stays longer.
	Undos = 4
	// BarrierPods is simultaneous barrier pods.
	// Protects: the API server and the ReplicationController controller.
	// Beyond: requests share the next one.
	BarrierPods = 4
	// CleanupSets is workloads that the leader reads simultaneously, each of another namespace.
	// Protects: other namespaces, from one with many pods.
	// Beyond: a workload waits.
	CleanupSets = 4
	// CleanupPods is pods of a workload that are read, and costs that are removed, in each pass.
	// Protects: the same.
	// Beyond: the rest follows in the next pass.
	CleanupPods = 200
	// NoteBytes is the text of an event, or of an entry in a status.
	// Protects: what is stored: API servers refuse more than 1,024.
	// Beyond: the text is cut.
	NoteBytes = 1000
	// Workloads is workloads in the status of a policy.
	// Protects: what is stored.
	// Beyond: the oldest one is dropped, and counted.
	Workloads = 20
	// RecordPods is pods in a line of the log, and in the annotation of an event.
	// Protects: memory and log lines, which container runtimes split.
	// Beyond: both say how many more there are.
	RecordPods = 100
)

// Once returns a text that shares its memory with equal ones.
func Once[T ~string](text T) T { return unique.Make(text).Value() }
