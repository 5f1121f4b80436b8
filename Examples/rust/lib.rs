// SPDX-License-Identifier: Apache-2.0
//! A handler that reads a barometer five times: a fall of more than 10 hPa is a storm.
mod bghost;

use bghost::{Host, Note, Outcome, Plugin, RunInfo, Task, Text};
use std::ffi::c_void;
use std::mem::size_of;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::sleep;
use std::time::Duration;

#[used]
#[link_section = ".note.bghost"]
static NOTE: Note<48> = Note::new(*b"abi=1.0;id=org.example.weather-rust;runtime=rust");

static HOST: AtomicPtr<Host> = AtomicPtr::new(std::ptr::null_mut());

/// A run: a number, so it may go to any thread.
#[derive(Clone, Copy)]
struct Run(u64);

impl Run {
    fn host(&self) -> &'static Host {
        unsafe { &*HOST.load(Ordering::Acquire) }
    }

    fn is_to_stop(&self) -> bool {
        unsafe { (self.host().cancelled)(self.host(), self.0) != bghost::OK }
    }

    fn progress(&self, done: u64, total: u64, phase: &str) {
        unsafe { (self.host().progress)(self.host(), self.0, done, total, Text::new(phase)) };
    }

    /// What start() is to answer.
    fn complete(&self, message: &str, payload: &str) -> i32 {
        let outcome = Outcome {
            size: size_of::<Outcome>() as u32,
            status: bghost::OK,
            message: Text::new(message),
            payload: Text::new(payload),
            retry_after_ms: 0,
        };
        match unsafe { (self.host().complete)(self.host(), self.0, &outcome) } {
            bghost::OK => bghost::PENDING,
            _ => bghost::FAILED,
        }
    }
}

fn watch(run: Run) -> i32 {
    let readings = [1013, 1010, 1006, 1001, 995];
    for n in 1..=readings.len() as u64 {
        sleep(Duration::from_millis(20));
        if run.is_to_stop() {
            return bghost::CANCELLED;
        }
        run.progress(n, readings.len() as u64, "reading");
    }
    let fall = readings[0] - readings[readings.len() - 1];
    run.complete("five readings", &format!("{{\"fall\":{},\"storm\":{}}}", fall, fall > 10))
}

/// No panic may cross the boundary: it would end the process.
extern "C" fn start(_plugin: *mut c_void, info: *const RunInfo) -> i32 {
    let run = Run(unsafe { (*info).run });
    catch_unwind(|| watch(run)).unwrap_or(bghost::FAILED)
}

static WATCH: Task = Task {
    size: size_of::<Task>() as u32,
    flags: bghost::MAY_BLOCK,
    handler: Text::new("weather.watch"),
    params_schema: Text::NONE,
    start,
    cancel: None,
    release: None,
};

static TASKS: [&Task; 1] = [&WATCH];

static PLUGIN: Plugin = Plugin {
    size: size_of::<Plugin>() as u32,
    abi_major: 1,
    min_host_minor: 0,
    id: Text::new("org.example.weather-rust"),
    version: Text::new("1.0.0"),
    vendor: Text::new("Example"),
    flags: 0,
    n_tasks: 1,
    tasks: &TASKS as *const &Task,
    open: None,
    drain: None,
    close: None,
};

#[no_mangle]
pub extern "C" fn bghost_plugin_v1(host: *const Host) -> *const Plugin {
    HOST.store(host as *mut Host, Ordering::Release);
    &PLUGIN
}
