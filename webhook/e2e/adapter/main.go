// Adapter serves metrics of pods by custom.metrics.k8s.io with the library that adapters use, for the tests in e2e. It
// gets the values from the test: GET SOURCE?namespace=NAMESPACE returns an object of numbers by pod. Like other
// adapters, it lists the pods from the API server.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider/helpers"
)

var info = provider.CustomMetricInfo{GroupResource: schema.GroupResource{Resource: "pods"}, Namespaced: true, Metric: "active_sessions"}

type sessions struct {
	source string
	client dynamic.Interface
	mapper apimeta.RESTMapper
}

func (s *sessions) ListAllMetrics() []provider.CustomMetricInfo {
	return []provider.CustomMetricInfo{info}
}

func (s *sessions) numbers(ctx context.Context, namespace string) (numbers map[string]float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.source+"?namespace="+url.QueryEscape(namespace), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return numbers, json.NewDecoder(response.Body).Decode(&numbers)
}

func (s *sessions) GetMetricBySelector(ctx context.Context, namespace string, selector labels.Selector, asked provider.CustomMetricInfo, _ labels.Selector) (*custom_metrics.MetricValueList, error) {
	if asked.Metric != info.Metric {
		return nil, provider.NewMetricNotFoundError(asked.GroupResource, asked.Metric)
	}
	names, err := helpers.ListObjectNames(s.mapper, s.client, namespace, selector, asked)
	if err != nil {
		return nil, err
	}
	numbers, err := s.numbers(ctx, namespace)
	if err != nil {
		return nil, err
	}
	list := &custom_metrics.MetricValueList{}
	for _, name := range names {
		number, ok := numbers[name]
		if !ok {
			continue
		}
		object, err := helpers.ReferenceFor(s.mapper, types.NamespacedName{Namespace: namespace, Name: name}, asked)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, custom_metrics.MetricValue{
			DescribedObject: object, Metric: custom_metrics.MetricIdentifier{Name: asked.Metric}, Timestamp: metav1.Time{Time: time.Now()},
			Value: *resource.NewMilliQuantity(int64(number*1000), resource.DecimalSI),
		})
	}
	return list, nil
}

func (s *sessions) GetMetricByName(ctx context.Context, name types.NamespacedName, asked provider.CustomMetricInfo, selector labels.Selector) (*custom_metrics.MetricValue, error) {
	list, err := s.GetMetricBySelector(ctx, name.Namespace, labels.Everything(), asked, selector)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if list.Items[i].DescribedObject.Name == name.Name {
			return &list.Items[i], nil
		}
	}
	return nil, provider.NewMetricNotFoundForError(asked.GroupResource, asked.Metric, name.Name)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "adapter:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	base := &cmd.AdapterBase{Name: "adapter"}
	s := &sessions{}
	base.Flags().StringVar(&s.source, "source", "", "where to ask for numbers")
	base.Flags().AddGoFlagSet(flag.CommandLine)
	if err := base.Flags().Parse(os.Args[1:]); err != nil {
		return err
	}
	if s.client, err = base.DynamicClient(); err != nil {
		return err
	}
	if s.mapper, err = base.RESTMapper(); err != nil {
		return err
	}
	base.WithCustomMetrics(s)
	return base.Run(server.SetupSignalContext())
}
