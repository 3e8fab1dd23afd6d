package values

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A row is what an answer says of a pod.
type row struct {
	namespace, pod string
	Value
	// isNumber is false for what is none. It still counts as a row about the pod.
	isNumber bool
}

// A decoder passes the rows of an answer on.
type decoder func(k key, all *answer, use func(row) error) error

var decoders = map[string]decoder{metricsAPI: ofMetric, resourcesAPI: ofUsage, queriesAPI: ofQuery}

// An answer is a list of the API server, or what Prometheus answers to a query.
type answer struct {
	Items json.RawMessage `json:"items"`
	Data  struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// each decodes the elements of an array one after the other, so that they take no more memory than one.
func each[T any](array json.RawMessage, use func(*T) error) error {
	if len(array) == 0 || string(array) == "null" {
		// Go writes an empty list in this way.
		return nil
	}
	read := json.NewDecoder(bytes.NewReader(array))
	if start, err := read.Token(); err != nil || start != json.Delim('[') {
		return errors.New("the answer has no list")
	}
	for read.More() {
		one := new(T)
		if err := read.Decode(one); err != nil {
			return errors.New("the answer has something else in its list")
		}
		if err := use(one); err != nil {
			return err
		}
	}
	return nil
}

// metric is a value of custom.metrics.k8s.io, of its version v1beta1 or v1beta2.
type metric struct {
	Object struct{ Kind, Namespace, Name string } `json:"describedObject"`
	At     time.Time                              `json:"timestamp"`
	Value  string                                 `json:"value"`
}

func ofMetric(_ key, all *answer, use func(row) error) error {
	return each(all.Items, func(m *metric) error {
		if m.Object.Kind != "Pod" {
			// It counts, and is dropped.
			m.Object.Name = ""
		}
		value, ok := parse(m.Value)
		return use(row{m.Object.Namespace, m.Object.Name, Value{number(value), m.At}, ok})
	})
}

// usage is what metrics.k8s.io says of a pod.
type usage struct {
	Metadata   struct{ Namespace, Name string } `json:"metadata"`
	At         time.Time                        `json:"timestamp"`
	Containers json.RawMessage                  `json:"containers"`
}

type container struct {
	Name  string            `json:"name"`
	Usage map[string]string `json:"usage"`
}

// ofUsage sums the usage of a resource by a container or, if it has no name, by all.
func ofUsage(k key, all *answer, use func(row) error) error {
	return each(all.Items, func(u *usage) error {
		sum, known, isNumber := resource.Quantity{}, 0, true
		err := each(u.Containers, func(c *container) error {
			if k.Container == "" || k.Container == c.Name {
				value, ok := parse(c.Usage[k.Resource])
				sum.Add(value)
				known, isNumber = known+1, isNumber && ok
			}
			return nil
		})
		if err != nil {
			return err
		}
		return use(row{u.Metadata.Namespace, u.Metadata.Name, Value{number(sum), u.At}, isNumber && known > 0})
	})
}

type sample struct {
	Labels struct{ Namespace, Pod string } `json:"metric"`
	Value  [2]any                          `json:"value"`
}

// ofQuery takes rows without the label namespace for those of the one that is read, since the query is about it.
func ofQuery(k key, all *answer, use func(row) error) error {
	if all.Data.Type != "vector" {
		return errors.New("the query gives no instant vector")
	}
	return each(all.Data.Result, func(s *sample) error {
		seconds, _ := s.Value[0].(float64)
		text, _ := s.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		at := time.UnixMilli(int64(seconds * 1000))
		return use(row{cmp.Or(s.Labels.Namespace, k.namespace), s.Labels.Pod, Value{value, at}, err == nil})
	})
}

// collect returns the values of the pods of a namespace. It drops rows about other pods. A pod with two rows has no
// value, because nobody knows which one counts.
func collect(body []byte, k key) (map[string]Value, error) {
	var all answer
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, errors.New("the answer is not JSON, or not all of it came")
	}
	values, seen, rows := map[string]Value{}, map[string]bool{}, 0
	err := decoders[k.api()](k, &all, func(r row) error {
		if rows++; rows > bounded.ValueRows {
			return fmt.Errorf("the answer has more than %d values", bounded.ValueRows)
		}
		if r.namespace != k.namespace || r.pod == "" || len(r.pod) > bounded.NameBytes {
			return nil
		}
		if values[r.pod] = r.Value; seen[r.pod] || !r.isNumber {
			delete(values, r.pod)
		}
		seen[r.pod] = true
		return nil
	})
	return values, err
}
