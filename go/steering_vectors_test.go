package podrank

import (
	"errors"
	"reflect"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
)

func TestSteeringJSON(t *testing.T) {
	type pods []vectorRecord
	var file struct {
		Steer []struct {
			Name    string
			Pods    pods
			Fixed   []int
			Prices  []int
			Costs   []int32
			Blocked [][3]any
			NoRoom  []uint32
		}
		Spread []struct {
			Name         string
			Pods, Others pods
			Nodes        int
			Ranks        []uint32
		}
	}
	readVectors(t, "steering.json", &file)
	records := func(pods pods) (records []core.Pod) {
		for _, pod := range pods {
			records = append(records, pod.record(t))
		}
		return records
	}
	for _, c := range file.Steer {
		n := len(c.Pods)
		prices, costs, blocked := make([]uint8, n), make([]int32, n), make([]core.Blocked, n)
		for i, price := range c.Prices {
			prices[i] = uint8(price)
		}
		for _, i := range c.Fixed {
			prices[i] = core.SteerPriceFixed
		}
		steered, err := engine.Current.Steer(records(c.Pods), core.Options{}, prices, costs, blocked)
		if c.NoRoom != nil {
			if got := []uint32{steered.Lower, steered.Higher}; !errors.Is(err, core.ErrNoRoom) || !reflect.DeepEqual(got, c.NoRoom) {
				t.Errorf("%s: %v %v, not no room at %v", c.Name, got, err, c.NoRoom)
			}
			continue
		}
		var pairs [][3]any
		for _, pair := range blocked[:steered.Blocked] {
			pairs = append(pairs, [3]any{float64(pair.Pod), float64(pair.Before), engine.Current.RuleName(pair.Rule)})
		}
		if err != nil || n > 0 && !reflect.DeepEqual(costs, c.Costs) || !reflect.DeepEqual(pairs, c.Blocked) {
			t.Errorf("%s: %v %v %v, not %v %v", c.Name, costs, pairs, err, c.Costs, c.Blocked)
		}
	}
	for _, c := range file.Spread {
		own := records(c.Pods)
		err := engine.Current.Spread(own, records(c.Others), core.Options{}, make([]uint32, c.Nodes), make([]uint32, len(own)))
		ranks := []uint32{}
		for _, record := range own {
			ranks = append(ranks, record.Rank)
		}
		if err != nil || !reflect.DeepEqual(ranks, c.Ranks) {
			t.Errorf("%s: %v %v, not %v", c.Name, ranks, err, c.Ranks)
		}
	}
	if len(file.Steer) < 15 || len(file.Spread) < 5 {
		t.Errorf("%d and %d cases", len(file.Steer), len(file.Spread))
	}
}
