package main

import (
	"bytes"
	"regexp"
	"testing"
)

// What stays true of the output with another seed, Kubernetes or Go.
func TestShow(t *testing.T) {
	var first, second bytes.Buffer
	show(&first)
	show(&second)
	if first.String() != second.String() {
		t.Errorf("two runs differ:\n%s\n%s", &first, &second)
	}
	want := regexp.MustCompile(`^Kubernetes v1\.\S+
upstream: Less\(X, Z\) = true, Less\(Z, X\) = false
upstream: Less\(Z, Y\) = true, Less\(Y, Z\) = false
upstream: Less\(Y, X\) = true, Less\(X, Y\) = false

30 pods, .*
upstream: [1-9]\d+ distinct victim sets of 200 shuffles
podrank: 1 victim set of 200 shuffles
podrank of upstream: .* contested, of which \d+ go
$`)
	if !want.MatchString(first.String()) {
		t.Errorf("got\n%s", &first)
	}
}
