package report

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podrank/podrank/webhook/internal/probe"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// metric registers what it makes.
var metric = promauto.With(metrics.Registry)

var (
	admissions = metric.NewHistogramVec(prometheus.HistogramOpts{
		Name: "podrank_webhook_admission_duration_seconds",
		Help: "Time until a request to lower a count was answered, by result.",
		// The deadline is 1 s by default, and there may be two decisions.
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 1.5, 2, 3, 5},
	}, []string{"result"})
	removalFailures = counter("podrank_webhook_removal_failures_total", "Attempts to remove a deletion cost that failed.")
	barriers        = metric.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "podrank_webhook_barrier_duration_seconds",
		Help:    "Time until kube-controller-manager had observed all earlier writes, by whether that was proved.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10},
	}, []string{"seen"})
	done        = counter("podrank_webhook_pods_deleted_total", "Selected pods that were deleted.")
	missed      = counters("podrank_webhook_pods_missed_total", "Selected pods that were kept, by reason.", "reason")
	predictions = counters("podrank_webhook_predictions_total",
		"Scale-downs that were only observed, by result: Right, Wrong, or why nothing could be compared.", "result")
	possible = counters("podrank_webhook_possible_pods_total",
		"Pods that chance decided about when nobody steered, by the tenth of their predicted probability, and whether they were deleted.", "probability", "deleted")
	valued    = counters("podrank_webhook_valued_total", "Scale-downs whose policy asks for values, by whether these counted.", "counted")
	reachable = metric.NewGaugeVec(prometheus.GaugeOpts{
		Name: "podrank_webhook_reachable",
		Help: "Whether the last dry-run scale-down of the leader arrived at podrank-webhook: 1 or 0. " +
			"Absent where there is no leader, and while podrank-webhook has fewer than 2 replicas.",
	}, nil)
)

func counter(name, help string) prometheus.Counter {
	return metric.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return metric.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Answered counts a request that was answered.
func Answered(o *steer.Outcome, took time.Duration) {
	admissions.WithLabelValues(string(o.Result)).Observe(took.Seconds())
	if o.Valuation != nil {
		valued.WithLabelValues(strconv.FormatBool(o.Valuation.Why == nil)).Inc()
	}
}

// Barrier counts a barrier pod.
func Barrier(took time.Duration, err error) {
	barriers.WithLabelValues(strconv.FormatBool(err == nil)).Observe(took.Seconds())
}

// Probed sets whether the API server reaches podrank-webhook.
func Probed(state probe.State) {
	reachable.Reset()
	if state != probe.Unknown {
		reachable.WithLabelValues().Set(float64(state - probe.Unreached))
	}
}

// RemovalFailed counts an attempt to remove a cost that failed.
func RemovalFailed() { removalFailures.Inc() }
