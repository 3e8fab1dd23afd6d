// Package keda runs the trigger of docs/busy.md in KEDA's own scaler for Prometheus. `make -C webhook/e2e keda` copies that from KEDA's module into scalers/, because
// the package that has it also has the scalers of all other sources. It is a module of its own, because podrank-webhook needs none of this.
package keda

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"

	"github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"

	"github.com/podrank/podrank/webhook/e2e/keda/scalers"
)

// trigger is the one of docs/busy.md.
func trigger(t *testing.T) v1alpha1.ScaleTriggers {
	t.Helper()
	page, err := os.ReadFile("../../../docs/busy.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\\*\\*KEDA\\.\\*\\*.*?```yaml\n(.*?)```").FindSubmatch(page)
	var triggers []v1alpha1.ScaleTriggers
	if block == nil || yaml.UnmarshalStrict(block[1], &triggers) != nil || len(triggers) != 1 || triggers[0].Type != "prometheus" {
		t.Fatalf("no trigger in docs/busy.md: %s", block)
	}
	return triggers[0]
}

// As many pods are busy as Prometheus says. KEDA asks for as many replicas, and is active while there is one. If Prometheus has no answer, that is an error, with which the
// autoscaler does not scale down.
func TestTrigger(t *testing.T) {
	var result string
	trigger := trigger(t)
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if query := r.URL.Query().Get("query"); query != trigger.Metadata["query"] {
			t.Errorf("the query is %q", query)
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, result)
	}))
	defer prometheus.Close()
	trigger.Metadata["serverAddress"] = prometheus.URL
	scaler, err := scalers.NewPrometheusScaler(&scalersconfig.ScalerConfig{TriggerMetadata: trigger.Metadata, MetricType: trigger.MetricType})
	if err != nil {
		t.Fatal(err)
	}
	specs := scaler.GetMetricSpecForScaling(context.Background())
	if len(specs) != 1 || specs[0].External == nil {
		t.Fatalf("%+v", specs)
	}
	if target := specs[0].External.Target; target.Type != autoscalingv2.AverageValueMetricType || target.AverageValue.String() != "1" {
		t.Errorf("the target is %s %v", target.Type, target.AverageValue)
	}
	for _, busy := range []int64{0, 1, 7} {
		result = fmt.Sprintf(`{"metric":{},"value":[1773144000,"%d"]}`, busy)
		values, isActive, err := scaler.GetMetricsAndActivity(context.Background(), "busy")
		if err != nil || len(values) != 1 || values[0].Value.Value() != busy || isActive != (busy > 0) {
			t.Errorf("%d busy pods: %+v, active %t, %v", busy, values, isActive, err)
		}
	}
	result = ""
	if values, isActive, err := scaler.GetMetricsAndActivity(context.Background(), "busy"); err == nil {
		t.Errorf("without an answer: %+v, active %t", values, isActive)
	}
}
