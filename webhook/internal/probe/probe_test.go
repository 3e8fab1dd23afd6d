package probe_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podrank/podrank/webhook/internal/probe"
)

// api is an API server with these ReplicaSets, which answers a patch with a status and a warning.
func api(t *testing.T, status int, warning string, sets ...appsv1.ReplicaSet) (*rest.Config, *[]string) {
	t.Helper()
	asked := &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any = &appsv1.ReplicaSetList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSetList"}, Items: sets}
		if r.Method == http.MethodPatch {
			*asked = append(*asked, r.URL.Path+"?"+r.URL.RawQuery)
			answer = &autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"}}
			w.Header().Add("Warning", `299 - "something else"`)
			if warning != "" {
				w.Header().Add("Warning", `299 - "`+warning+`"`)
			}
			w.Header().Add("Warning", `299 - "and more"`)
			w.WriteHeader(status)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, asked
}

func set(name, owner string, replicas int32) appsv1.ReplicaSet {
	isController := true
	return appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: owner, Controller: &isController}}},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas},
	}
}

func TestAsk(t *testing.T) {
	for what, c := range map[string]struct {
		status  int
		warning string
		sets    []appsv1.ReplicaSet
		want    probe.State
	}{
		"it arrives":               {http.StatusOK, probe.Warning, []appsv1.ReplicaSet{set("old", "Deployment", 0), set("new", "Deployment", 2)}, probe.Reached},
		"it is let through":        {http.StatusOK, "", []appsv1.ReplicaSet{set("new", "Deployment", 2)}, probe.Unreached},
		"another answers":          {http.StatusOK, "hello", []appsv1.ReplicaSet{set("new", "Deployment", 2)}, probe.Unreached},
		"it is refused":            {http.StatusForbidden, probe.Warning, []appsv1.ReplicaSet{set("new", "Deployment", 2)}, probe.Unreached},
		"there is one replica":     {http.StatusOK, probe.Warning, []appsv1.ReplicaSet{set("new", "Deployment", 1)}, probe.Unknown},
		"nothing has 2 replicas":   {http.StatusOK, probe.Warning, nil, probe.Unknown},
		"another kind of an owner": {http.StatusOK, probe.Warning, []appsv1.ReplicaSet{set("new", "Rollout", 2)}, probe.Unknown},
	} {
		config, asked := api(t, c.status, c.warning, c.sets...)
		state, err := probe.New(config, "podrank-system", time.Minute, nil, logr.Discard()).Ask(context.Background())
		if state != c.want || (err != nil) != (c.want == probe.Unreached) {
			t.Errorf("%s: %v, %v", what, state, err)
		}
		for _, url := range *asked {
			if !strings.HasPrefix(url, "/apis/apps/v1/namespaces/podrank-system/replicasets/new/scale?") || !strings.Contains(url, "dryRun=All") {
				t.Errorf("%s: %s", what, url)
			}
		}
		if (len(*asked) == 1) != (c.want != probe.Unknown) {
			t.Errorf("%s: %d questions", what, len(*asked))
		}
	}
}

// Each probe counts alone: a warning of an earlier one proves nothing.
func TestStart(t *testing.T) {
	config, _ := api(t, http.StatusOK, probe.Warning, set("new", "Deployment", 2))
	ctx, stop := context.WithCancel(context.Background())
	var counted, states []probe.State
	count := func(state probe.State) { counted = append(counted, state) }
	p := probe.New(config, "podrank-system", time.Millisecond, count, logr.Discard())
	p.Run(ctx, func(state probe.State) {
		if states = append(states, state); len(states) == 1 {
			other, _ := api(t, http.StatusOK, "", set("new", "Deployment", 2))
			p.Client = probe.New(other, "podrank-system", 0, nil, logr.Discard()).Client
		} else {
			stop()
		}
	})
	if !slices.Equal(states, []probe.State{probe.Reached, probe.Unreached}) || !slices.Equal(counted, states) {
		t.Errorf("%v, and %v are counted", states, counted)
	}
}

// A probe that does not arrive is repeated soon: the API server has not read its configuration yet when the program starts.
func TestSoon(t *testing.T) {
	config, _ := api(t, http.StatusOK, "", set("new", "Deployment", 2))
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	var states []probe.State
	p := probe.New(config, "podrank-system", time.Hour, func(probe.State) {}, logr.Discard())
	p.Run(ctx, func(state probe.State) {
		if states = append(states, state); state == probe.Reached {
			stop()
			return
		}
		reached, _ := api(t, http.StatusOK, probe.Warning, set("new", "Deployment", 2))
		reached.WarningHandler = p
		p.Client = kubernetes.NewForConfigOrDie(reached)
	})
	if len(states) != 2 || states[1] != probe.Reached {
		t.Errorf("%v", states)
	}
}
