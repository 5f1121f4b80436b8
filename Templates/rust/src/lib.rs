//! A plugin of bghost: counts the prime numbers up to a limit.
mod bghost;

use bghost::{Host, Note, Outcome, Plugin, RunInfo, Task, Text};
use std::ffi::c_void;
use std::mem::size_of;
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

const LIMIT_MAX: u64 = 100_000_000;

/// What the host reads before it loads the plugin. Its length is a multiple of four: `;` fills it.
#[used]
#[link_section = ".note.bghost"]
static NOTE: Note<36> = Note::new(*b"abi=1.0;runtime=rust;params=checked;");

static HOST: AtomicPtr<Host> = AtomicPtr::new(null_mut());

/// One run, by its number. Runs may overlap, so what belongs to one is not kept in statics.
#[derive(Clone, Copy)]
struct Run(u64);

impl Run {
    fn host(&self) -> &'static Host {
        unsafe { &*HOST.load(Ordering::Acquire) }
    }

    fn is_to_stop(&self) -> bool {
        unsafe { (self.host().cancelled)(self.host(), self.0) != bghost::OK }
    }

    fn log(&self, message: &str) {
        unsafe { (self.host().log)(self.host(), self.0, 2, Text::new(message)) };
    }

    fn progress(&self, done: u64, total: u64, phase: &str) {
        unsafe { (self.host().progress)(self.host(), self.0, done, total, Text::new(phase)) };
    }

    /// The parameter at a JSON pointer, as text; `None` if there is none.
    fn parameter(&self, pointer: &str) -> Option<String> {
        let mut value = vec![0u8; 64];
        let mut length = 0;
        let status = unsafe {
            let buffer = value.as_mut_ptr().cast();
            (self.host().param)(
                self.host(),
                self.0,
                Text::new(pointer),
                buffer,
                64,
                &mut length,
            )
        };
        match status {
            bghost::OK => {
                value.truncate(length);
                String::from_utf8(value).ok()
            }
            bghost::ABSENT => None,
            // Longer than a number is, among others: no number either.
            _ => Some(String::new()),
        }
    }

    /// Ends the run; the answer is what `start` returns.
    fn complete(&self, status: i32, message: &str, json: &str) -> i32 {
        let outcome = Outcome {
            size: size_of::<Outcome>() as u32,
            status,
            message: Text::new(message),
            payload: Text::new(json),
            retry_after_ms: 0,
        };
        match unsafe { (self.host().complete)(self.host(), self.0, &outcome) } {
            bghost::OK => bghost::PENDING,
            _ => bghost::FAILED,
        }
    }
}

fn is_prime(number: u64) -> bool {
    if number % 2 == 0 {
        return number == 2;
    }
    (3..)
        .step_by(2)
        .take_while(|divisor| divisor * divisor <= number)
        .all(|d| number % d != 0)
}

/// Parameters come from the manifest and from requests: check them.
fn read_limit(run: Run) -> Option<u64> {
    match run.parameter("/limit") {
        None => Some(1_000_000),
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (2..=LIMIT_MAX).contains(limit)),
    }
}

fn count_primes(run: Run) -> i32 {
    let limit = match read_limit(run) {
        Some(limit) => limit,
        None => {
            // FINAL: another attempt would fail too.
            let message = format!("`limit` must be an integer of 2 to {LIMIT_MAX}");
            return run.complete(bghost::FINAL, &message, "");
        }
    };
    run.log("counting");
    let (mut count, mut largest) = (0, 0);
    for number in 2..=limit {
        if number % 1024 == 0 {
            if run.is_to_stop() {
                return bghost::CANCELLED;
            }
            run.progress(number, limit, "counting");
        }
        if is_prime(number) {
            count += 1;
            largest = number;
        }
    }
    run.complete(
        bghost::OK,
        "",
        &format!("{{\"count\":{count},\"largest\":{largest}}}"),
    )
}

/// No panic may cross the boundary: it would end the process.
extern "C" fn start(_plugin: *mut c_void, info: *const RunInfo) -> i32 {
    let run = Run(unsafe { (*info).run });
    catch_unwind(|| count_primes(run)).unwrap_or(bghost::FAILED)
}

static PRIMES: Task = Task {
    size: size_of::<Task>() as u32,
    // `start` takes as long as the run.
    flags: bghost::MAY_BLOCK,
    handler: Text::new("primes"),
    params_schema: Text::new(
        r#"{"type":"object","properties":{"limit":{"type":"integer","minimum":2,"maximum":100000000}}}"#,
    ),
    start,
    cancel: None,
    release: None,
};

static TASKS: [&Task; 1] = [&PRIMES];

static PLUGIN: Plugin = Plugin {
    size: size_of::<Plugin>() as u32,
    abi_major: 1,
    min_host_minor: 0,
    id: Text::new("org.example.template-name"),
    version: Text::new("0.1.0"),
    vendor: Text::new("Example"),
    flags: 0,
    n_tasks: TASKS.len() as u32,
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

#[cfg(test)]
mod tests {
    use super::is_prime;

    #[test]
    fn primes_are_found() {
        let found: Vec<u64> = (2..30).filter(|number| is_prime(*number)).collect();
        assert_eq!(found, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }
}
