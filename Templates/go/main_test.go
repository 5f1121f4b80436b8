package main

import (
	"context"
	"errors"
	"testing"

	"example.org/template-name/bghost"
)

func TestPrimesAreFound(t *testing.T) {
	limit := uint64(30)
	found, err := countPrimes(context.Background(), &bghost.Run{}, parameters{Limit: &limit})
	if want := (result{Count: 10, Largest: 29}); err != nil || found != want {
		t.Errorf("found %v, %v, want %v", found, err, want)
	}
}

func TestACancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := countPrimes(ctx, &bghost.Run{}, parameters{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it answers %v", err)
	}
}
