package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

func TestPrune(t *testing.T) {
	for _, c := range []struct{ kind, whole, want string }{
		{"Pod", `{"metadata":{"name":"web","uid":"1","resourceVersion":"5","annotations":{"other":"x",
			"controller.kubernetes.io/pod-deletion-cost":"7"},"labels":{"app":"web"}},
			"spec":{"nodeName":"node-0","containers":[{"name":"main"}],"initContainers":[{"name":"s","image":"none"}]},
			"status":{"phase":"Running","podIP":"::1","conditions":[{"type":"Ready","lastTransitionTime":null,"reason":""}]}}`,
			`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"7"},"labels":{"app":"web"},
			"name":"web","uid":"1"},"spec":{"initContainers":[{"name":"s"}],"nodeName":"node-0"},
			"status":{"conditions":[{"lastTransitionTime":null,"type":"Ready"}],"phase":"Running"}}`},
		{"ReplicaSet", `{"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{}},"status":{"replicas":3}}`,
			`{"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}}},"status":{"replicas":3}}`},
	} {
		var whole, want map[string]any
		if err := json.Unmarshal([]byte(c.whole), &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if prune(whole, "", slices.Concat(kept[""], kept[c.kind])); !reflect.DeepEqual(whole, want) {
			t.Errorf("got  %s\nwant %s", whole, want)
		}
	}
}
