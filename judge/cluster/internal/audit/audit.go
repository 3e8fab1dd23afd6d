// Package audit reads the log that kube-apiserver writes if `up --audit` started it: who changed which pod, count or Lease.
package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Event is a request that was carried out.
type Event struct {
	User                string // the impersonated one, if there is one
	Agent               string
	Verb                string
	Resource, Namespace string // the resource with its subresource, as in replicasets/scale
	Name                string
	Began, Ended        time.Time
	ChangesTemplate     bool   // it is a patch that has a pod template
	Replicas            *int32 // the count that it sets, if it sets one
}

// IsController says that a controller sent it.
func (e *Event) IsController() bool { return strings.HasPrefix(e.Agent, "kube-controller-manager/") }

// Log is the file as far as it has been read.
type Log struct {
	mutex  sync.Mutex
	file   string
	offset int64
	events map[string][]Event // by namespace, in the order of the log
}

// Open reads this file from now on.
func Open(file string) *Log {
	if _, err := os.Stat(file); err != nil {
		must.Do(fmt.Errorf("no audit log: start the control plane with `up --audit`: %w", err))
	}
	return &Log{file: file, events: map[string][]Event{}}
}

// Of returns the requests that have succeeded in a namespace so far. kube-apiserver writes an event before it answers,
// so the event of each answered request is here.
func (l *Log) Of(namespace string) []Event {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.read()
	return append([]Event{}, l.events[namespace]...)
}

// read reads whole lines up to the present end.
func (l *Log) read() {
	file := must.Get(os.Open(l.file))
	defer file.Close()
	length := must.Get(file.Stat()).Size() - l.offset
	text := make([]byte, length)
	if length > 0 {
		must.Get(file.ReadAt(text, l.offset))
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.offset += int64(len(text))
	for line := range bytes.Lines(text) {
		if event := parse(line); event != nil {
			l.events[event.Namespace] = append(l.events[event.Namespace], *event)
		}
	}
}

// parse returns nothing for a request that was refused or changed nothing.
func parse(line []byte) *Event {
	var logged struct {
		Stage, Verb, UserAgent string
		User                   struct{ Username string }
		ImpersonatedUser       *struct{ Username string }
		ObjectRef              struct{ Resource, Subresource, Namespace, Name string }
		ResponseStatus         struct{ Code int }
		RequestURI             string
		RequestObject          json.RawMessage
		ResponseObject         struct {
			Metadata struct{ Name string }
		}
		RequestReceivedTimestamp time.Time
		StageTimestamp           time.Time
	}
	if err := json.Unmarshal(line, &logged); err != nil {
		must.Do(fmt.Errorf("the audit log has a line that is not an event: %w: %s", err, line))
	}
	if logged.Stage != "ResponseComplete" || logged.ResponseStatus.Code >= 300 || strings.Contains(logged.RequestURI, "dryRun=All") {
		return nil
	}
	event := &Event{User: logged.User.Username, Agent: logged.UserAgent, Verb: logged.Verb, Resource: logged.ObjectRef.Resource,
		Namespace: logged.ObjectRef.Namespace, Name: logged.ObjectRef.Name,
		Began: logged.RequestReceivedTimestamp, Ended: logged.StageTimestamp}
	if logged.ImpersonatedUser != nil {
		event.User = logged.ImpersonatedUser.Username
	}
	if logged.ObjectRef.Subresource != "" {
		event.Resource += "/" + logged.ObjectRef.Subresource
	}
	if event.Name == "" { // the server chose it
		event.Name = logged.ResponseObject.Metadata.Name
	}
	event.read(logged.RequestObject)
	return event
}

// read finds what a request does to a count and a template. A Scale leaves a count of 0 out. A JSON patch, which is a list, has neither.
func (e *Event) read(sent json.RawMessage) {
	var body struct {
		Kind string
		Spec struct {
			Replicas *int32
			Template json.RawMessage
		}
	}
	if json.Unmarshal(sent, &body) != nil {
		return
	}
	e.Replicas = body.Spec.Replicas
	if e.Replicas == nil && e.Verb == "update" && body.Kind == "Scale" {
		e.Replicas = new(int32)
	}
	e.ChangesTemplate = e.Verb == "patch" && body.Spec.Template != nil
}
