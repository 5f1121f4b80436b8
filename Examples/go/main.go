// SPDX-License-Identifier: Apache-2.0

// A handler that fetches a page, counts its own runs in the data directory, and asks for its next run. The
// folder `bghost` beside it is what `bghost plugin new --language go` writes.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.org/report/bghost"
)

const schema = `{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"again":{"type":"integer","minimum":1,"maximum":86400}}}`

func init() {
	bghost.Serve(bghost.Plugin{
		ID: "org.example.report-go", Version: "1.0.0", Vendor: "Example",
		Handlers: []bghost.Handler{bghost.Handle("report", schema, report)},
	})
}

func main() {}

type parameters struct {
	URL   string `json:"url"`
	Again int64  `json:"again"`
}

type result struct {
	Status int   `json:"status"`
	Bytes  int   `json:"bytes"`
	Runs   int64 `json:"runs"`
}

func report(ctx context.Context, run *bghost.Run, p parameters) (result, error) {
	if p.URL == "" {
		return result{}, bghost.Final(fmt.Errorf("`url` is missing"))
	}
	run.Progress(0, 3, "fetching")
	// It ends early if the host cancels the run.
	page, err := run.Fetch(ctx, bghost.FetchRequest{URL: p.URL})
	if err != nil {
		return result{}, err
	}
	run.Progress(1, 3, "counting")
	runs, err := count(filepath.Join(run.DataDir, "runs"))
	if err != nil {
		return result{}, err
	}
	run.Progress(2, 3, "submitting")
	if p.Again > 0 {
		next := time.Now().Add(time.Duration(p.Again) * time.Second)
		if err := run.Submit(bghost.Request{TaskID: run.TaskID, Parameters: p, Earliest: next}); err != nil {
			return result{}, err
		}
	}
	run.Progress(3, 3, "done")
	run.Log(bghost.Info, "fetched %d bytes", len(page.Body))
	return result{page.Status, len(page.Body), runs}, nil
}

// count appends a byte, which runs may do at the same time, and returns how many there are.
func count(path string) (int64, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := file.Write([]byte(".")); err != nil {
		return 0, err
	}
	facts, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return facts.Size(), nil
}
