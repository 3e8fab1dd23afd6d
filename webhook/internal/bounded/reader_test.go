package bounded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// server has so many pods of so many bytes. It returns a client for them, and how many pods it was asked for at a time.
func server(t *testing.T, count, size int) (client.WithWatch, *[]int) {
	var asked []int
	pods := make([]corev1.Pod, count)
	for i := range pods {
		pods[i] = corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
		pods[i].Name, pods[i].Annotations = fmt.Sprint("web-", i), map[string]string{"a": strings.Repeat("x", size)}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		w.Header().Set("Content-Type", "application/json")
		answer := json.NewEncoder(w).Encode
		if query.Has("watch") {
			for i := range pods {
				_ = answer(map[string]any{"type": "ADDED", "object": &pods[i]})
			}
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/pods") {
			_ = answer(&pods[0])
			return
		}
		limit, _ := strconv.Atoi(query.Get("limit"))
		from, _ := strconv.Atoi(query.Get("continue"))
		asked = append(asked, limit)
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		to := len(pods)
		if limit > 0 {
			to = min(from+limit, to)
		}
		if list.Items = pods[from:to]; to < len(pods) {
			list.Continue = fmt.Sprint(to)
		}
		_ = answer(list)
	}))
	t.Cleanup(server.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	live, err := client.NewWithWatch(bounded.Config(&rest.Config{Host: server.URL}), client.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper})
	fakeapi.Must(t, err)
	return live, &asked
}

// All pods are read once, by pages that are no larger than they may be.
func TestEach(t *testing.T) {
	for _, c := range []struct {
		count, size int
		limit       int64
		want        []int
	}{
		{300, 1_000, 0, []int{0}},
		{300, 1_000, 200, []int{200, 200}},
		{300, 9_000, 0, []int{0, 200, 200}},
		{300, 30_000, 0, []int{0, 200, 50, 100, 25, 50, 100, 25, 50, 100, 25, 50, 100}},
		{4, 1_500_000, 200, []int{200, 50, 12, 3, 1, 2, 1, 2, 1, 2}},
	} {
		live, asked := server(t, c.count, c.size)
		seen := 0
		err := bounded.Each(context.Background(), bounded.NewReader(live, 1), &corev1.PodList{}, func(pod *corev1.Pod) error {
			if pod.Name != fmt.Sprint("web-", seen) {
				t.Fatalf("%s is number %d", pod.Name, seen)
			}
			seen++
			return nil
		}, client.InNamespace("shop"), client.Limit(c.limit))
		if err != nil || seen != c.count || !slices.Equal(*asked, c.want) {
			t.Errorf("%+v: %d seen, %v asked for: %v", c, seen, *asked, err)
		}
	}
}

// An object over the limit is an error, in a list as well. A watch has no limit.
func TestTooLarge(t *testing.T) {
	const larger = 3 << 20
	live, _ := server(t, 1, larger)
	err := bounded.Each(context.Background(), bounded.NewReader(live, 1), &corev1.PodList{}, func(*corev1.Pod) error { return nil }, client.InNamespace("shop"))
	if err == nil || !strings.Contains(err.Error(), "more than 2 MiB") {
		t.Errorf("a list: %v", err)
	}
	err = live.Get(context.Background(), client.ObjectKey{Namespace: "shop", Name: "web-0"}, &corev1.Pod{})
	if err == nil || !strings.Contains(err.Error(), "more than 2 MiB") {
		t.Errorf("a pod: %v", err)
	}
	changes, err := live.Watch(context.Background(), &corev1.PodList{}, client.InNamespace("shop"))
	fakeapi.Must(t, err)
	defer changes.Stop()
	if change := <-changes.ResultChan(); len(change.Object.(*corev1.Pod).Annotations["a"]) != larger {
		t.Error("a pod is cut")
	}
}
