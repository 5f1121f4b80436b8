package main

import (
	"reflect"
	"testing"
)

func TestPrimesAreFound(t *testing.T) {
	var found []uint64
	for number := uint64(2); number < 30; number++ {
		if isPrime(number) {
			found = append(found, number)
		}
	}
	if want := []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}; !reflect.DeepEqual(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}
