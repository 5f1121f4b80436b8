// Package bghost lets handlers be ordinary Go functions: each run has a goroutine of its own and a
// context, which the host cancels.
package bghost

// CGO_CPPFLAGS comes before this folder: it names the SDK on another machine.

// #cgo CPPFLAGS: -I/bghost/SDK/Sources/CBghost/include
// #include <stdlib.h>
// #include "abi.h"
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Plugin is what the host is told of this library.
type Plugin struct {
	// ID is reverse DNS, such as org.example.weather.
	ID       string
	Version  string
	Vendor   string
	Handlers []Handler
}

// Handler is the code of tasks: tasks.json names it. Handle makes one.
type Handler struct {
	Name string
	// Schema is the JSON Schema of the parameters; "" accepts all.
	Schema string
	// Serial excludes two runs of the handler at once.
	Serial bool

	run func(context.Context, *Run, []byte) ([]byte, error)
}

// Handle makes a handler of a function.
//
// Runs overlap, unless Serial is set. The parameters are decoded into P as by json.Unmarshal; a run
// whose parameters do not fit fails finally. The result is encoded as JSON. An error fails the run with
// its text: `retry` of the task decides about another attempt, unless the error is of Final or Retry.
// After the host has cancelled the context, context.Canceled is the error to return. A panic fails the
// run too, but only in the goroutine that runs the function: in others it ends the process.
func Handle[P, R any](name, schema string, run func(context.Context, *Run, P) (R, error)) Handler {
	return Handler{Name: name, Schema: schema, run: func(
		ctx context.Context, r *Run, text []byte,
	) ([]byte, error) {
		var parameters P
		if err := json.Unmarshal(text, &parameters); err != nil {
			return nil, Final(fmt.Errorf("parameters: %w", err))
		}
		result, err := run(ctx, r, parameters)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}}
}

// failure is an error with a status for the host.
type failure struct {
	error
	status C.bg_status
	after  time.Duration
}

func (f failure) Unwrap() error { return f.error }

// Final marks an error that another attempt would meet too: the host does not retry.
func Final(err error) error { return failure{err, C.BG_E_FINAL, 0} }

// Retry marks an error after which another attempt may succeed, at the earliest after this time; with 0,
// `retry` of the task says when.
func Retry(after time.Duration, err error) error { return failure{err, C.BG_E_RETRY, after} }

// Level is the level of a message in the host's log.
type Level uint32

const (
	Trace Level = iota
	Debug
	Info
	Warning
	Error
	Fault
)

// Run is one run of a handler. Any goroutine may use it, also after the end of the run: the host then
// ignores the calls. A Run that a test makes, such as &Run{}, has no host, and its calls do nothing.
type Run struct {
	// TaskID is the identifier of the task in tasks.json.
	TaskID string
	// Attempt counts from 1.
	Attempt int
	// DataDir is the plugin's own folder, which is kept from run to run.
	DataDir string
	// Deadline is when the host cancels the context.
	Deadline time.Time
	// Grace is the time from then until the host kills the process.
	Grace time.Duration
	// MaxResult is the most bytes of a result.
	MaxResult int

	host   unsafe.Pointer
	number C.bg_run
}

// Log writes to the host's log.
func (r *Run) Log(level Level, format string, arguments ...any) {
	if r.host == nil {
		return
	}
	text, length := bytes([]byte(fmt.Sprintf(format, arguments...)))
	C.bghost_log(r.host, r.number, C.uint32_t(level), text, length)
}

// Progress reports that `done` of `total` units are done.
func (r *Run) Progress(done, total uint64, phase string) {
	if r.host == nil {
		return
	}
	text, length := bytes([]byte(strings.ToValidUTF8(phase, "?")))
	C.bghost_progress(r.host, r.number, C.uint64_t(done), C.uint64_t(total), text, length)
}

// Request asks the host to run a task.
type Request struct {
	TaskID string
	// Parameters are encoded as JSON, an object; nil for none.
	Parameters any
	// Earliest is the earliest start; the zero time: as soon as possible.
	Earliest time.Time
}

// Submit stores a request for a task that tasks.json grants to this plugin, in place of its pending one. The
// error is a Status if the host refuses it.
func (r *Run) Submit(request Request) error {
	if r.host == nil {
		return Status(C.BG_E_CLOSED)
	}
	var parameters []byte
	if request.Parameters != nil {
		var err error
		if parameters, err = json.Marshal(request.Parameters); err != nil {
			return err
		}
	}
	earliest := int64(0)
	if !request.Earliest.IsZero() {
		earliest = request.Earliest.UnixMilli()
	}
	task, taskLength := bytes([]byte(request.TaskID))
	given, givenLength := bytes(parameters)
	return statusOf(C.bghost_submit(
		r.host, r.number, task, taskLength, given, givenLength, C.int64_t(earliest),
	))
}

// FetchRequest is a request of HTTP, which the host makes within the plugin's network permissions.
type FetchRequest struct {
	URL string
	// Method is GET if it is "".
	Method string
	// Header has lines "Name: value\n".
	Header string
	Body   []byte
	// MaxBytes limits the body of the response; 0: 1 MiB.
	MaxBytes int64
	// Timeout is 60 s if it is 0.
	Timeout time.Duration
}

// FetchResponse is what the server answered, whatever its status.
type FetchResponse struct {
	Status int
	// Header has lines "name: value\n".
	Header string
	Body   []byte
}

// fetched is the end of a fetch.
type fetched struct {
	response FetchResponse
	err      error
}

// Fetch makes a request, and waits for its end. If the context is cancelled before, it returns the context's error.
func (r *Run) Fetch(ctx context.Context, request FetchRequest) (FetchResponse, error) {
	if r.host == nil {
		return FetchResponse{}, Status(C.BG_E_CLOSED)
	}
	// The host ends each fetch once, at the latest with its run. The channel has room for that, so the host never
	// waits for this goroutine.
	ended := make(chan fetched, 1)
	handle := cgo.NewHandle(ended)
	url, urlLength := bytes([]byte(request.URL))
	method, methodLength := bytes([]byte(request.Method))
	header, headerLength := bytes([]byte(request.Header))
	body, bodyLength := bytes(request.Body)
	var fetch C.bg_fetch
	status := C.bghost_fetch(
		r.host, r.number, url, urlLength, method, methodLength, header, headerLength, body, bodyLength,
		C.int64_t(request.MaxBytes), C.int64_t(request.Timeout.Milliseconds()), C.uintptr_t(handle), &fetch,
	)
	if err := statusOf(status); err != nil {
		handle.Delete()
		return FetchResponse{}, err
	}
	select {
	case end := <-ended:
		return end.response, end.err
	case <-ctx.Done():
		C.bghost_fetch_cancel(r.host, fetch)
		// Until then the handle is in use.
		<-ended
		return FetchResponse{}, ctx.Err()
	}
}

// Status is the status of the ABI with which a call of the host failed, such as -13, BG_E_PERM.
type Status int32

func (s Status) Error() string { return fmt.Sprintf("the host refuses it (status %d)", int32(s)) }

func statusOf(status C.bg_status) error {
	if status < 0 {
		return Status(status)
	}
	return nil
}

// execute calls the handler, and completes the run once.
func (r *Run) execute(ctx context.Context, handler Handler, parameters []byte) {
	ending := ending{status: C.BG_E_FAILED}
	defer func() {
		forget(r.number)
		switch status := r.complete(ending); status {
		case C.BG_OK, C.BG_E_STALE, C.BG_E_CLOSED:
		case C.BG_E_LIMIT:
			r.complete(failed("the result has %d bytes, and may have %d", len(ending.payload), r.MaxResult))
		default:
			r.complete(failed("the host does not take the result (status %d)", status))
		}
	}()
	isOver := false
	defer func() {
		if isOver {
			return
		}
		value := recover()
		if value == nil {
			// runtime.Goexit, which also testing.T.FailNow calls.
			ending = failed("the handler ended its goroutine")
			return
		}
		ending = failed("panic: %v", value)
		for _, line := range strings.Split(strings.TrimSpace(string(debug.Stack())), "\n") {
			r.Log(Error, "%s", line)
		}
	}()
	result, err := handler.run(ctx, r, parameters)
	isOver = true
	var cause failure
	switch {
	case err == nil:
		ending.status = C.BG_OK
		if string(result) != "null" {
			ending.payload = result
		}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		ending.status = C.BG_E_CANCELLED
	case errors.As(err, &cause):
		r.describe(cause.error)
		ending = failed("%v", err)
		ending.status, ending.after = cause.status, cause.after
	default:
		r.describe(err)
		ending = failed("%v", err)
	}
}

// describe tells the host the type of the error with which the run fails.
func (r *Run) describe(err error) {
	name, length := bytes([]byte(fmt.Sprintf("%T", err)))
	C.bghost_error(r.host, r.number, name, length)
}

// ending is how a run ends.
type ending struct {
	status  C.bg_status
	message string
	payload []byte
	after   time.Duration
}

func failed(format string, arguments ...any) ending {
	// The host refuses a message that is not UTF-8.
	message := strings.ToValidUTF8(fmt.Sprintf(format, arguments...), "?")
	return ending{status: C.BG_E_FAILED, message: message}
}

func (r *Run) complete(e ending) C.bg_status {
	message, messageLength := bytes([]byte(e.message))
	payload, payloadLength := bytes(e.payload)
	return C.bghost_complete(
		r.host, r.number, e.status, C.int64_t(e.after.Milliseconds()), message, messageLength,
		payload, payloadLength,
	)
}

// bytes is what C reads during one call.
func bytes(text []byte) (*C.char, C.size_t) {
	if len(text) == 0 {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text))
}

// ---- What the host calls.

var (
	// table and handlers are set once, before the host's first call.
	table    *C.bg_plugin
	handlers = map[*C.bg_task]Handler{}
	// host is the latest table of the host; a run keeps that of its start.
	host atomic.Value

	lock    sync.Mutex
	cancels = map[C.bg_run]context.CancelFunc{}
)

// Serve declares the plugin. Call it once, in an init function.
func Serve(plugin Plugin) {
	count := len(plugin.Handlers)
	// C memory: the host reads it without Go, and it stays as it is.
	tasks := (*C.bg_task)(C.calloc(C.size_t(count+1), C.sizeof_bg_task))
	list := (**C.bg_task)(C.calloc(C.size_t(count+1), C.size_t(unsafe.Sizeof(tasks))))
	for index, handler := range plugin.Handlers {
		task := &unsafe.Slice(tasks, count)[index]
		task.size = C.sizeof_bg_task
		task.handler, task.params_schema = text(handler.Name), text(handler.Schema)
		if handler.Serial {
			task.flags |= C.BG_TASK_SERIAL
		}
		task.start = (*[0]byte)(C.bghost_start)
		task.cancel = (*[0]byte)(C.bghost_cancel)
		unsafe.Slice(list, count)[index] = task
		handlers[task] = handler
	}
	table = (*C.bg_plugin)(C.calloc(1, C.sizeof_bg_plugin))
	table.size, table.abi_major = C.sizeof_bg_plugin, C.BG_ABI_MAJOR
	table.id, table.version, table.vendor = text(plugin.ID), text(plugin.Version), text(plugin.Vendor)
	table.n_tasks, table.tasks = C.uint32_t(count), list
}

// text copies into C memory, for the table.
func text(text string) C.bg_str {
	return C.bg_str{ptr: C.CString(text), len: C.size_t(len(text))}
}

//export bghostEnter
func bghostEnter(given unsafe.Pointer) unsafe.Pointer {
	host.Store(given)
	return unsafe.Pointer(table)
}

//export bghostStart
func bghostStart(pointer unsafe.Pointer, now C.int64_t) C.bg_status {
	info := (*C.bg_run_info)(pointer)
	// Copies: the memory is the host's, and the goroutine may outlive it.
	run := &Run{
		TaskID:    C.GoStringN(info.task_id.ptr, C.int(info.task_id.len)),
		Attempt:   int(info.attempt),
		DataDir:   C.GoStringN(info.data_dir.ptr, C.int(info.data_dir.len)),
		Deadline:  time.Now().Add(time.Duration(info.deadline_mono_ns - now)),
		Grace:     time.Duration(info.grace_ms) * time.Millisecond,
		MaxResult: int(info.max_result),
		host:      host.Load().(unsafe.Pointer),
		number:    info.run,
	}
	parameters := C.GoBytes(unsafe.Pointer(info.params.ptr), C.int(info.params.len))
	ctx, cancel := context.WithCancel(context.Background())
	lock.Lock()
	cancels[run.number] = cancel
	lock.Unlock()
	go run.execute(ctx, handlers[info.task], parameters)
	return C.BG_PENDING
}

//export bghostCancel
func bghostCancel(run C.bg_run, why C.uint32_t) {
	lock.Lock()
	cancel := cancels[run]
	lock.Unlock()
	if cancel != nil {
		cancel()
	}
}

// forget ends the context of a run.
func forget(run C.bg_run) {
	lock.Lock()
	cancel := cancels[run]
	delete(cancels, run)
	lock.Unlock()
	if cancel != nil {
		cancel()
	}
}

//export bghostFetched
func bghostFetched(handle C.uintptr_t, pointer unsafe.Pointer) {
	result := (*C.bg_fetch_result)(pointer)
	// Copies: the memory is the host's.
	end := fetched{response: FetchResponse{
		Status: int(result.http_status),
		Header: C.GoStringN(result.headers.ptr, C.int(result.headers.len)),
		Body:   C.GoBytes(unsafe.Pointer(result.body.ptr), C.int(result.body.len)),
	}}
	switch {
	case result.status == C.BG_E_CANCELLED:
		end.err = context.Canceled
	case result.status < 0:
		end.err = errors.New(C.GoStringN(result.message.ptr, C.int(result.message.len)))
	}
	waiting := cgo.Handle(handle)
	ended := waiting.Value().(chan fetched)
	waiting.Delete()
	ended <- end
}
