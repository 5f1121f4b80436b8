// A plugin of bghost: counts the prime numbers up to a limit.
package main

import (
	"context"
	"fmt"

	"example.org/template-name/bghost"
)

const limitMax = 100_000_000

const schema = `{"type":"object","properties":{"limit":{"type":"integer","minimum":2,"maximum":100000000}}}`

func init() {
	bghost.Serve(bghost.Plugin{
		ID: "org.example.template-name", Version: "0.1.0", Vendor: "Example",
		Handlers: []bghost.Handler{bghost.Handle("primes", schema, countPrimes)},
	})
}

// main is not called: the host calls the handlers.
func main() {}

type parameters struct {
	Limit *uint64 `json:"limit"`
}

type result struct {
	Count   uint64 `json:"count"`
	Largest uint64 `json:"largest"`
}

// countPrimes is one run. Runs may overlap, so what belongs to one is not kept in package variables.
func countPrimes(ctx context.Context, run *bghost.Run, p parameters) (result, error) {
	limit := uint64(1_000_000)
	if p.Limit != nil {
		limit = *p.Limit
	}
	// Parameters come from the manifest and from requests: check them.
	if limit < 2 || limit > limitMax {
		// Final: another attempt would fail too.
		return result{}, bghost.Final(fmt.Errorf("`limit` must be an integer of 2 to %d", limitMax))
	}
	run.Log(bghost.Info, "counting")
	var found result
	for number := uint64(2); number <= limit; number++ {
		if number%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return result{}, err
			}
			run.Progress(number, limit, "counting")
		}
		if isPrime(number) {
			found.Count++
			found.Largest = number
		}
	}
	return found, nil
}

func isPrime(number uint64) bool {
	if number%2 == 0 {
		return number == 2
	}
	for divisor := uint64(3); divisor*divisor <= number; divisor += 2 {
		if number%divisor == 0 {
			return false
		}
	}
	return true
}
