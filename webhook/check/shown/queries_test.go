// Package shown checks what administrators are shown: the alerts, the dashboard and the page at Artifact Hub. It is a module of its own, because it needs
// Prometheus' parser, which the program does not.
package shown

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	_ "github.com/podrank/podrank/webhook/internal/report" // registers the metrics
	"github.com/podrank/podrank/webhook/internal/steer"
)

const monitoring = "../../chart/files/"

// ofTarget are the labels that Prometheus adds by the ServiceMonitor.
var ofTarget = []string{"namespace", "pod", "service"}

// failOpen is a metric of the API server, as TestFailOpen in webhook/e2e finds it.
const failOpen = "apiserver_admission_webhook_fail_open_count"

// described matches what a description of a metric says as text, which is all that it tells.
var described = regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{(.*)\}\}$`)

// served are the series that /metrics serves, with their labels, also of metrics that nothing has counted yet.
func served() map[string][]string {
	descriptions, series := make(chan *prometheus.Desc), map[string][]string{"up": {}, failOpen: {"name", "type"}}
	go func() {
		metrics.Registry.(prometheus.Collector).Describe(descriptions)
		close(descriptions)
	}()
	for description := range descriptions {
		found := described.FindStringSubmatch(description.String())
		name, of := found[1], strings.Split(found[2], ",")
		if strings.HasPrefix(name, "podrank_") && strings.HasSuffix(name, "_seconds") {
			series[name+"_bucket"], series[name+"_count"], series[name+"_sum"] = append(of, labels.BucketLabel), of, of
		} else {
			series[name] = of
		}
	}
	return series
}

// queries are those of the alerts and the dashboard, by what asks them.
func queries(t *testing.T) map[string]string {
	t.Helper()
	var alerts struct {
		Spec struct {
			Groups []struct {
				Rules []struct{ Alert, Expr string }
			}
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	read(t, monitoring+"alerts.yaml", &alerts, func(text []byte, to any) error { return yaml.Unmarshal(text, to) })
	read(t, monitoring+"dashboard.json", &dashboard, json.Unmarshal)
	all := map[string]string{}
	for _, rule := range alerts.Spec.Groups[0].Rules {
		all["alert "+rule.Alert] = rule.Expr
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all[fmt.Sprintf("panel %q, %s", panel.Title, target.RefID)] = target.Expr
		}
	}
	return all
}

func read(t *testing.T, file string, to any, parse func([]byte, any) error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = parse(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Each reason for which a scale-down was not steered is in an alert.
func TestReasons(t *testing.T) {
	expr := queries(t)["alert PodrankWebhookDoesNotSteer"]
	for _, result := range steer.Unsteered {
		if matches := regexp.MustCompile(`[|"]`+string(result)+`[|"]`).FindAllString(expr, -1); len(matches) != 2 {
			t.Errorf("%s is %d times in %s", result, len(matches), expr)
		}
	}
}

// Prometheus can read each query, and each series in it is served and has the labels that the query compares or groups by. Each metric of the
// program is in a query.
func TestQueries(t *testing.T) {
	series, asked := served(), map[string]bool{}
	// Grafana puts durations in their place.
	durations := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h")
	for where, query := range queries(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(durations.Replace(query))
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		known := slices.Clone(ofTarget)
		var grouped []string
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			switch node := node.(type) {
			case *parser.AggregateExpr:
				grouped = append(grouped, node.Grouping...)
			case *parser.VectorSelector:
				asked[node.Name] = true
				of, ok := series[node.Name]
				if !ok {
					t.Errorf("%s: %s is not on /metrics", where, node.Name)
				}
				known = append(known, of...)
				for _, matcher := range node.LabelMatchers {
					if !slices.Contains(slices.Concat(of, ofTarget, []string{labels.MetricName}), matcher.Name) {
						t.Errorf("%s: %s has no label %s", where, node.Name, matcher.Name)
					}
				}
			}
			return nil
		})
		for _, label := range grouped {
			if !slices.Contains(known, label) {
				t.Errorf("%s: nothing in it has the label %s", where, label)
			}
		}
	}
	for name := range series {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")
		if strings.HasPrefix(name, "podrank_") && !asked[name] && !asked[base+"_bucket"] {
			t.Errorf("no alert and no panel asks for %s", name)
		}
	}
}
