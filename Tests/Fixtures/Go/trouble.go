// SPDX-License-Identifier: Apache-2.0

// Handlers that end in different ways. A test puts this file in the place of main.go of a new plugin.
package main

// #include <stdlib.h>
// static void crash(void) { *(volatile int *)16 = 1; }
// static void quit(void) { _Exit(3); }
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"example.org/trouble/bghost"
)

type none struct{}

func handle(name string, run func(context.Context, *bghost.Run) (any, error)) bghost.Handler {
	return bghost.Handle(name, "", func(ctx context.Context, r *bghost.Run, _ none) (any, error) {
		return run(ctx, r)
	})
}

var kept [][]byte

func init() {
	bghost.Serve(bghost.Plugin{ID: "org.example.trouble", Version: "0.1.0", Handlers: []bghost.Handler{
		handle("succeed", func(_ context.Context, run *bghost.Run) (any, error) {
			run.Log(bghost.Warning, "task %s, attempt %d", run.TaskID, run.Attempt)
			return map[string]any{
				"grace": run.Grace.Seconds(), "rest": time.Until(run.Deadline) > 0,
				"data": os.WriteFile(run.DataDir+"/x", nil, 0o600) == nil,
			}, nil
		}),
		handle("nothing", func(context.Context, *bghost.Run) (any, error) { return nil, nil }),
		handle("fail", func(context.Context, *bghost.Run) (any, error) {
			return nil, errors.New("no luck")
		}),
		handle("fail-in-latin", func(context.Context, *bghost.Run) (any, error) {
			return nil, errors.New("caf\xe9\x00")
		}),
		handle("fail-finally", func(context.Context, *bghost.Run) (any, error) {
			return nil, fmt.Errorf("outer: %w", bghost.Final(errors.New("gone")))
		}),
		handle("retry", func(context.Context, *bghost.Run) (any, error) {
			return nil, bghost.Retry(90*time.Second, errors.New("busy"))
		}),
		handle("panic", func(context.Context, *bghost.Run) (any, error) { panic("oh no") }),
		handle("dereference", func(context.Context, *bghost.Run) (any, error) {
			var nothing *bghost.Plugin
			return nothing.ID, nil
		}),
		handle("goexit", func(context.Context, *bghost.Run) (any, error) {
			runtime.Goexit()
			return nil, nil
		}),
		handle("too-long", func(context.Context, *bghost.Run) (any, error) {
			return strings.Repeat("x", 1<<20), nil
		}),
		handle("wait", func(ctx context.Context, _ *bghost.Run) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		handle("spin", func(context.Context, *bghost.Run) (any, error) {
			for {
			}
		}),
		handle("canceled", func(context.Context, *bghost.Run) (any, error) {
			return nil, context.Canceled
		}),
		handle("panic-elsewhere", func(ctx context.Context, _ *bghost.Run) (any, error) {
			go func() { panic("elsewhere") }()
			<-ctx.Done()
			return nil, nil
		}),
		handle("crash-in-c", func(context.Context, *bghost.Run) (any, error) {
			C.crash()
			return nil, nil
		}),
		handle("exit", func(context.Context, *bghost.Run) (any, error) {
			C.quit()
			return nil, nil
		}),
		handle("garbage", func(context.Context, *bghost.Run) (any, error) {
			for i := 0; i < 200; i++ {
				kept = append(kept, make([]byte, 1<<20))
				for j := range kept[i] {
					kept[i][j] = 1
				}
			}
			kept = nil
			return runtime.NumGoroutine(), nil
		}),
		handle("many", func(ctx context.Context, _ *bghost.Run) (any, error) {
			done := make(chan int)
			for i := 0; i < 10000; i++ {
				go func() { time.Sleep(50 * time.Millisecond); done <- 1 }()
			}
			sum := 0
			for i := 0; i < 10000; i++ {
				sum += <-done
			}
			return sum, nil
		}),
	}})
}

func main() {}
