package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// line is what kube-apiserver writes about one request of podrank in the namespace n.
func line(verb, resource, subresource, name, further string) string {
	return fmt.Sprintf(`{"stage":"ResponseComplete","verb":%q,"user":{"username":"admin"},"impersonatedUser":{"username":"podrank"},`+
		`"userAgent":"kubectl/v1","requestURI":"/apis","objectRef":{"resource":%q,"subresource":%q,"namespace":"n","name":%q},`+
		`"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-11-26T01:02:03.000001Z",`+
		`"stageTimestamp":"2026-11-26T01:02:03.000002Z"%s}`+"\n", verb, resource, subresource, name, further)
}

func read(t *testing.T, text string) []Event {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Open(file).Of("n")
}

func TestCounts(t *testing.T) {
	for body, want := range map[string]string{
		`{"kind":"Scale","spec":{"replicas":3}}`:                    "3 true",
		`{"kind":"Scale","spec":{}}`:                                "0 true",
		`{"kind":"Deployment","spec":{"paused":true}}`:              "0 false",
		`[{"op":"test","path":"/spec/replicas","value":9}]`:         "0 false",
		`[{"op":"replace","path":"/spec/replicas","value":4}]`:      "4 true",
		`{"kind":"Deployment","spec":{"replicas":5,"template":{}}}`: "5 true",
	} {
		events := read(t, line("update", "deployments", "scale", "web", `,"requestObject":`+body))
		if len(events) != 1 || events[0].Resource != "deployments/scale" || events[0].User != "podrank" {
			t.Fatalf("%v", events)
		}
		count, ok := events[0].Replicas()
		if got := fmt.Sprint(count, ok); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestOnlyWhatWasCarriedOut(t *testing.T) {
	refused := `{"stage":"ResponseComplete","verb":"delete","objectRef":{"namespace":"n"},"responseStatus":{"code":403}}` + "\n"
	dry := `{"stage":"ResponseComplete","verb":"delete","requestURI":"/x?dryRun=All","objectRef":{"namespace":"n"},"responseStatus":{"code":200}}` + "\n"
	cut := `{"stage":"Respo`
	if events := read(t, refused+dry+cut); len(events) > 0 {
		t.Errorf("%v", events)
	}
}

func TestNamesThatTheServerChose(t *testing.T) {
	made := `,"responseObject":{"metadata":{"name":"web-1","uid":"u"}}`
	events := read(t, line("create", "pods", "", "", made))
	if len(events) != 1 || events[0].Name != "web-1" || events[0].UID != "u" || !events[0].Ended.After(events[0].Began) {
		t.Errorf("%v", events)
	}
}
