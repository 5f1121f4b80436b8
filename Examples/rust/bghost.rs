// SPDX-License-Identifier: Apache-2.0
//! Plugins of bghost in Rust, 1.63 or later, with the standard library only.
//!
//! Put this file beside `lib.rs` and write there `mod bghost;`. A handler is a function:
//!
//! ```ignore
//! fn greet(run: &bghost::Run) -> bghost::Result<String> {
//!     run.log("a visitor is at the door");
//!     Ok("{\"hello\":true}".into())
//! }
//!
//! bghost::plugin! {
//!     id: "org.example.hello", version: "1.0.0", vendor: "Example",
//!     handlers: [bghost::handler!(greet, "greet")],
//! }
//! ```
//!
//! It returns the result of the run: JSON, or "". Each run has a thread of its own, so a handler may block; runs
//! overlap. A panic fails its run, unless the profile says `panic = "abort"`, and so does an error: `?` takes every
//! error of Rust. `bghost.h` says what each function does; `raw` is that header, for what is not wrapped.
#![allow(dead_code)]

use std::ffi::{c_void, CString};
use std::fs::File;
use std::io::{Read, Write};
use std::mem::{size_of, MaybeUninit};
use std::os::raw::{c_char, c_int, c_short, c_ulong};
use std::os::unix::io::{AsRawFd, FromRawFd, RawFd};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::addr_of;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// bghost.h: names, order and sizes are those of the header.
#[allow(non_camel_case_types)]
pub mod raw {
    use std::ffi::c_void;
    use std::os::raw::{c_char, c_int};

    pub const BG_PENDING: i32 = 1;
    pub const BG_OK: i32 = 0;
    pub const BG_E_FAILED: i32 = -1;
    pub const BG_E_RETRY: i32 = -2;
    pub const BG_E_CANCELLED: i32 = -3;
    pub const BG_E_FINAL: i32 = -4;
    pub const BG_E_STALE: i32 = -10;
    pub const BG_E_CLOSED: i32 = -11;
    pub const BG_E_ARG: i32 = -12;
    pub const BG_E_PERM: i32 = -13;
    pub const BG_E_LIMIT: i32 = -14;
    pub const BG_E_SMALL: i32 = -15;
    pub const BG_E_ABSENT: i32 = -16;
    pub const BG_E_KIND: i32 = -17;
    pub const BG_E_NOT_NOW: i32 = -18;

    pub const BG_WHY_EXPIRED: u32 = 1;
    pub const BG_WHY_USER: u32 = 2;
    pub const BG_WHY_DRAIN: u32 = 3;
    pub const BG_WHY_CONDITION: u32 = 4;
    pub const BG_WHY_QUOTA: u32 = 5;
    pub const BG_RUN_WORKER: u32 = 0x10000;
    pub const BG_RUN_WAKE: u32 = 0x20000;
    pub const BG_TASK_MAY_BLOCK: u32 = 1;
    pub const BG_TASK_SERIAL: u32 = 2;
    pub const BG_TASK_NEEDS_WORKER: u32 = 4;
    pub const BG_KIND_REFRESH: u32 = 1;
    pub const BG_KIND_PROCESSING: u32 = 2;
    pub const BG_NEEDS_NETWORK: u32 = 1;
    pub const BG_NEEDS_POWER: u32 = 2;
    pub const BG_NEEDS_UNMETERED: u32 = 4;
    pub const BG_SUBMIT_KEEP: u32 = 0x100;
    pub const BG_SUBMIT_UPDATE: u32 = 0x200;
    pub const BG_SUBMIT_APPEND: u32 = 0x300;
    pub const BG_SUBMIT_NOW: u32 = 0x400;
    pub const BG_REFRESH_AVAILABLE: u32 = 1;
    pub const BG_REFRESH_DENIED: u32 = 2;
    pub const BG_REFRESH_RESTRICTED: u32 = 3;
    pub const BG_RESTRICTED_BATTERY: u32 = 1;
    pub const BG_RESTRICTED_DRAIN: u32 = 2;
    pub const BG_RESTRICTED_MAINTENANCE: u32 = 4;
    pub const BG_RESTRICTED_BUDGET: u32 = 8;
    pub const BG_RESTRICTED_PRESSURE: u32 = 16;
    pub const BG_FETCH_DIGEST: u32 = 1;
    pub const BG_TRANSFER_UPLOAD: u32 = 1;
    pub const BG_TRANSFER_FORM: u32 = 2;
    pub const BG_TRANSFER_RESUMABLE: u32 = 4;
    pub const BG_TRANSFER_DISCRETIONARY: u32 = 8;
    pub const BG_TRANSFER_NO_WAKE: u32 = 16;
    pub const BG_CHECKPOINT_MAX: u32 = 65536;
    pub const BG_NOTIFY_PASSIVE: u32 = 0;
    pub const BG_NOTIFY_ACTIVE: u32 = 1;
    pub const BG_NOTIFY_TIME_SENSITIVE: u32 = 2;
    pub const BG_NOTIFY_CRITICAL: u32 = 3;

    pub type bg_run = u64;
    pub type bg_fetch = u64;
    pub type bg_sleep = u64;

    /// UTF-8 that needs no NUL; (null, 0) is "".
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct bg_str {
        pub ptr: *const u8,
        pub len: usize,
    }

    // The texts of a run and of a table never change while they are valid.
    unsafe impl Send for bg_str {}
    unsafe impl Sync for bg_str {}

    impl bg_str {
        pub const NONE: bg_str = bg_str {
            ptr: std::ptr::null(),
            len: 0,
        };

        pub const fn new(text: &str) -> bg_str {
            bg_str {
                ptr: text.as_ptr(),
                len: text.len(),
            }
        }
    }

    #[repr(C)]
    pub struct bg_result {
        pub size: u32,
        pub status: i32,
        pub message: bg_str,
        pub payload: bg_str,
        pub retry_after_ms: i64,
    }

    #[repr(C)]
    pub struct bg_run_info {
        pub size: u32,
        pub attempt: u32,
        pub run: bg_run,
        pub task_id: bg_str,
        pub params: bg_str,
        pub data_dir: bg_str,
        pub deadline_mono_ns: i64,
        pub grace_ms: u32,
        pub max_result: u32,
        pub cancel_fd: c_int,
        pub flags: u32,
        pub task: *const bg_task,
    }

    #[repr(C)]
    pub struct bg_host {
        pub size: u32,
        pub abi_major: u16,
        pub abi_minor: u16,
        pub ctx: *mut c_void,
        pub name: bg_str,
        pub version: bg_str,
        pub complete: unsafe extern "C" fn(*const bg_host, bg_run, *const bg_result) -> i32,
        pub cancelled: unsafe extern "C" fn(*const bg_host, bg_run) -> i32,
        pub set_state: unsafe extern "C" fn(*const bg_host, bg_run, *mut c_void) -> i32,
        pub progress: unsafe extern "C" fn(*const bg_host, bg_run, u64, u64, bg_str) -> i32,
        pub log: unsafe extern "C" fn(*const bg_host, bg_run, u32, bg_str) -> i32,
        pub param: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            bg_str,
            *mut c_char,
            usize,
            *mut usize,
        ) -> i32,
        pub extension: unsafe extern "C" fn(*const bg_host, *const c_char) -> *const c_void,
    }

    #[repr(C)]
    pub struct bg_task {
        pub size: u32,
        pub flags: u32,
        pub handler: bg_str,
        pub params_schema: bg_str,
        pub start: extern "C" fn(*mut c_void, *const bg_run_info) -> i32,
        pub cancel: Option<extern "C" fn(*mut c_void, bg_run, *mut c_void, u32)>,
        pub release: Option<extern "C" fn(*mut c_void, bg_run, *mut c_void)>,
    }

    #[repr(C)]
    pub struct bg_plugin {
        pub size: u32,
        pub abi_major: u16,
        pub min_host_minor: u16,
        pub id: bg_str,
        pub version: bg_str,
        pub vendor: bg_str,
        pub flags: u32,
        pub n_tasks: u32,
        pub tasks: *const *const bg_task,
        pub open: Option<extern "C" fn(*const bg_host, bg_str, *mut *mut c_void) -> i32>,
        pub drain: Option<extern "C" fn(*mut c_void)>,
        pub close: Option<extern "C" fn(*mut c_void)>,
    }

    // Its pointers are to memory that never changes.
    unsafe impl Sync for bg_plugin {}

    #[repr(C)]
    pub struct bg_request {
        pub size: u32,
        pub kind: u32,
        pub task_id: bg_str,
        pub params: bg_str,
        pub earliest_unix_ms: i64,
        pub needs: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct bg_pending {
        pub size: u32,
        pub kind: u32,
        pub earliest_unix_ms: i64,
        pub task_id: [c_char; 136],
        pub needs: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct bg_schedule {
        pub size: u32,
        pub reserved: u32,
        pub submit: unsafe extern "C" fn(*const bg_host, *const bg_request) -> i32,
        pub cancel: unsafe extern "C" fn(*const bg_host, bg_str) -> i32,
        pub cancel_all: unsafe extern "C" fn(*const bg_host) -> i32,
        pub pending:
            unsafe extern "C" fn(*const bg_host, *mut bg_pending, usize, *mut usize) -> i32,
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, Default)]
    pub struct bg_refresh {
        pub size: u32,
        pub status: u32,
        pub reasons: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, Default)]
    pub struct bg_missed {
        pub size: u32,
        pub reserved: u32,
        pub count: u64,
        pub from_unix_ms: i64,
    }

    #[repr(C)]
    pub struct bg_statuses {
        pub size: u32,
        pub reserved: u32,
        pub refresh: unsafe extern "C" fn(*const bg_host, *mut bg_refresh) -> i32,
        pub missed: unsafe extern "C" fn(*const bg_host, bg_run, *mut bg_missed) -> i32,
    }

    #[repr(C)]
    pub struct bg_run_identity {
        pub size: u32,
        pub reserved: u32,
        pub epoch: u64,
        pub run_id: [c_char; 32],
        pub idempotency_key: [c_char; 64],
    }

    #[repr(C)]
    pub struct bg_run_error {
        pub size: u32,
        pub line: u32,
        pub type_name: bg_str,
        pub file: bg_str,
    }

    #[repr(C)]
    pub struct bg_runs {
        pub size: u32,
        pub reserved: u32,
        pub identity: unsafe extern "C" fn(*const bg_host, bg_run, *mut bg_run_identity) -> i32,
        pub submit: unsafe extern "C" fn(*const bg_host, bg_run, *const bg_request) -> i32,
        pub error: unsafe extern "C" fn(*const bg_host, bg_run, *const bg_run_error) -> i32,
    }

    #[repr(C)]
    pub struct bg_checkpoints {
        pub size: u32,
        pub reserved: u32,
        pub save: unsafe extern "C" fn(*const bg_host, bg_run, *const c_void, usize) -> i32,
        pub load:
            unsafe extern "C" fn(*const bg_host, bg_run, *mut c_void, usize, *mut usize) -> i32,
    }

    #[repr(C)]
    pub struct bg_main {
        pub size: u32,
        pub reserved: u32,
        pub serve: unsafe extern "C" fn(
            *const bg_host,
            c_int,
            extern "C" fn(*mut c_void),
            *mut c_void,
        ) -> i32,
    }

    #[repr(C)]
    pub struct bg_fetch_request {
        pub size: u32,
        pub flags: u32,
        pub url: bg_str,
        pub method: bg_str,
        pub headers: bg_str,
        pub body: bg_str,
        pub body_file: bg_str,
        pub max_bytes: i64,
        pub timeout_ms: i64,
    }

    #[repr(C)]
    pub struct bg_fetch_result {
        pub size: u32,
        pub status: i32,
        pub http_status: i32,
        pub reserved: u32,
        pub headers: bg_str,
        pub body: bg_str,
        pub message: bg_str,
    }

    pub type bg_fetch_done = extern "C" fn(*mut c_void, bg_fetch, *const bg_fetch_result);

    #[repr(C)]
    pub struct bg_fetches {
        pub size: u32,
        pub reserved: u32,
        pub begin: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            *const bg_fetch_request,
            bg_fetch_done,
            *mut c_void,
            *mut bg_fetch,
        ) -> i32,
        pub cancel: unsafe extern "C" fn(*const bg_host, bg_fetch) -> i32,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct bg_transfer {
        pub id: [c_char; 32],
    }

    #[repr(C)]
    pub struct bg_transfer_request {
        pub size: u32,
        pub flags: u32,
        pub session: bg_str,
        pub url: bg_str,
        pub method: bg_str,
        pub headers: bg_str,
        pub body: bg_str,
        pub file: bg_str,
        pub form_field: bg_str,
        pub form_name: bg_str,
        pub form_type: bg_str,
        pub digest: bg_str,
        pub continuation: bg_str,
        pub label: bg_str,
        pub earliest_unix_ms: i64,
        pub max_bytes: i64,
        pub idle_timeout_ms: i64,
        pub total_timeout_ms: i64,
    }

    #[repr(C)]
    pub struct bg_transfer_end {
        pub size: u32,
        pub status: i32,
        pub transfer: bg_str,
    }

    pub type bg_transfer_done = extern "C" fn(*mut c_void, *const bg_transfer_end);

    #[repr(C)]
    pub struct bg_transfers {
        pub size: u32,
        pub reserved: u32,
        pub begin: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            *const bg_transfer_request,
            *mut bg_transfer,
        ) -> i32,
        pub wait: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            *const bg_transfer,
            bg_transfer_done,
            *mut c_void,
        ) -> i32,
        pub cancel: unsafe extern "C" fn(*const bg_host, *const bg_transfer) -> i32,
        pub list: unsafe extern "C" fn(
            *const bg_host,
            bg_str,
            *const bg_transfer,
            *mut c_char,
            usize,
            *mut usize,
        ) -> i32,
        pub acknowledge: unsafe extern "C" fn(*const bg_host, *const bg_transfer) -> i32,
    }

    #[repr(C)]
    pub struct bg_wakes {
        pub size: u32,
        pub reserved: u32,
        pub keep: unsafe extern "C" fn(*const bg_host, bg_run, *const bg_transfer, usize) -> i32,
        pub claim: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            bg_str,
            *mut c_char,
            usize,
            *mut usize,
        ) -> i32,
    }

    #[repr(C)]
    pub struct bg_notification {
        pub size: u32,
        pub level: u32,
        pub id: bg_str,
        pub title: bg_str,
        pub subtitle: bg_str,
        pub body: bg_str,
        pub thread: bg_str,
        pub category: bg_str,
        pub user_info: bg_str,
        pub actions: bg_str,
        pub at_unix_ms: i64,
        pub every_ms: i64,
        pub calendar: bg_str,
        pub time_zone: bg_str,
    }

    #[repr(C)]
    pub struct bg_notifier {
        pub size: u32,
        pub reserved: u32,
        pub post: unsafe extern "C" fn(*const bg_host, bg_run, *const bg_notification) -> i32,
        pub withdraw: unsafe extern "C" fn(*const bg_host, bg_str) -> i32,
        pub pending: unsafe extern "C" fn(*const bg_host, *mut c_char, usize, *mut usize) -> i32,
    }

    pub type bg_sleep_done = extern "C" fn(*mut c_void, bg_sleep, i32);

    #[repr(C)]
    pub struct bg_clock {
        pub size: u32,
        pub reserved: u32,
        pub now: unsafe extern "C" fn(*const bg_host, *mut i64, *mut i64) -> i32,
        pub sleep: unsafe extern "C" fn(
            *const bg_host,
            bg_run,
            i64,
            bg_sleep_done,
            *mut c_void,
            *mut bg_sleep,
        ) -> i32,
        pub wake: unsafe extern "C" fn(*const bg_host, bg_sleep) -> i32,
    }

    #[repr(C)]
    pub struct bg_trace_context {
        pub size: u32,
        pub reserved: u32,
        pub traceparent: [c_char; 64],
        pub tracestate: [c_char; 520],
    }

    #[repr(C)]
    pub struct bg_traces {
        pub size: u32,
        pub reserved: u32,
        pub context: unsafe extern "C" fn(*const bg_host, bg_run, *mut bg_trace_context) -> i32,
    }
}

use raw::*;

// ---- Errors -------------------------------------------------------------------------------------

/// Why a handler ends without a result. Every error of Rust becomes one with `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The handler has stopped because the host cancelled its run.
    Cancelled,
    /// `retry` of the task decides about another attempt.
    Failed(String),
    /// The same, with an error of Rust that became one with `?`.
    Caught(String, Origin),
    /// Another attempt follows, at the earliest after this time; with zero, as `retry` of the task says.
    Retry(String, Duration),
    /// Another attempt would fail too: the host does not retry.
    Final(String),
    /// A function of the host failed with this status, `raw::BG_E_...`.
    Host(i32, &'static str),
}

/// The type of an error, and the line with its `?`. The host stores them with the run that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub type_name: &'static str,
    pub file: &'static str,
    pub line: u32,
}

pub type Result<T> = std::result::Result<T, Error>;

impl<E: std::error::Error> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Error {
        let place = std::panic::Location::caller();
        let origin = Origin {
            type_name: std::any::type_name::<E>(),
            file: place.file(),
            line: place.line(),
        };
        Error::Caught(error.to_string(), origin)
    }
}

impl Error {
    fn status(&self) -> i32 {
        match self {
            Error::Cancelled => BG_E_CANCELLED,
            Error::Retry(..) => BG_E_RETRY,
            Error::Final(_) => BG_E_FINAL,
            Error::Failed(_) | Error::Caught(..) | Error::Host(..) => BG_E_FAILED,
        }
    }

    fn message(&self) -> String {
        match self {
            Error::Cancelled => "cancelled".into(),
            Error::Failed(text) | Error::Caught(text, _) => text.clone(),
            Error::Retry(text, _) | Error::Final(text) => text.clone(),
            Error::Host(status, call) => format!("{call}: status {status}"),
        }
    }
}

fn check(status: i32, call: &'static str) -> Result<()> {
    if status < 0 {
        return Err(Error::Host(status, call));
    }
    Ok(())
}

/// Whether a call found what it was about.
fn found(status: i32, call: &'static str) -> Result<bool> {
    if status == BG_E_ABSENT {
        return Ok(false);
    }
    check(status, call).map(|_| true)
}

// ---- The host -----------------------------------------------------------------------------------

static HOST: AtomicPtr<bg_host> = AtomicPtr::new(std::ptr::null_mut());

/// The host's table, which stays as it is until the process ends. Without a host, as in tests, this panics.
pub fn host() -> &'static bg_host {
    unsafe { HOST.load(Ordering::Acquire).as_ref() }.expect("there is no host")
}

/// An extension, by its name, whose table reaches at least to `end`; `raw::BG_E_ABSENT` if this host does not have it.
fn extension<T>(name: &'static str, end: usize) -> Result<*const T> {
    let text = CString::new(name)?;
    let table = unsafe { (host().extension)(host(), text.as_ptr()) };
    // Each table begins with its size. A host of an earlier minor lacks what was appended later.
    if table.is_null() || (unsafe { *table.cast::<u32>() } as usize) < end {
        return Err(Error::Host(BG_E_ABSENT, name));
    }
    // No reference, which would promise the rest of the table too.
    Ok(table.cast::<T>())
}

/// The table of an extension as far as a function of it: the caller does not need what a later minor has behind it.
macro_rules! table {
    ($table:ident, $name:literal, $function:ident) => {{
        let table = MaybeUninit::<$table>::uninit();
        let function = unsafe { addr_of!((*table.as_ptr()).$function) };
        // Each function is a pointer.
        let end = function as usize - table.as_ptr() as usize + size_of::<usize>();
        extension::<$table>($name, end)
    }};
}

/// Calls a function that writes a text of unknown length.
fn grown(
    name: &'static str,
    call: impl Fn(*mut c_char, usize, *mut usize) -> i32,
) -> Result<String> {
    let mut buffer = vec![0u8; 512];
    loop {
        let mut need = 0;
        let status = call(buffer.as_mut_ptr().cast(), buffer.len(), &mut need);
        buffer.resize(need, 0);
        if status != BG_E_SMALL {
            check(status, name)?;
            return Ok(String::from_utf8(buffer)?);
        }
    }
}

fn copy(text: bg_str) -> String {
    String::from_utf8_lossy(bytes(text)).into_owned()
}

fn bytes<'a>(text: bg_str) -> &'a [u8] {
    if text.len == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(text.ptr, text.len) }
}

fn fixed(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text
        .iter()
        .take_while(|c| **c != 0)
        .map(|c| *c as u8)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn unix_ms(time: Option<SystemTime>) -> i64 {
    match time.map(|time| time.duration_since(UNIX_EPOCH)) {
        Some(Ok(since)) => since.as_millis() as i64,
        _ => 0,
    }
}

fn ms(duration: Duration) -> i64 {
    duration.as_millis().min(i64::MAX as u128) as i64
}

// ---- Waiting ------------------------------------------------------------------------------------

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

extern "C" {
    fn eventfd(initial: u32, flags: c_int) -> c_int;
    fn poll(all: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
}

const CLOSED_ON_EXEC: c_int = 0o2000000;
const READABLE: c_short = 1;

/// What a thread waits for: the one call of a `done`.
struct Wait<T> {
    signal: File,
    value: Mutex<Option<T>>,
}

impl<T> Wait<T> {
    fn new() -> Result<Wait<T>> {
        let fd = unsafe { eventfd(0, CLOSED_ON_EXEC) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Wait {
            signal: unsafe { File::from_raw_fd(fd) },
            value: Mutex::new(None),
        })
    }

    fn context(&self) -> *mut c_void {
        (self as *const Wait<T>).cast_mut_void()
    }

    /// Ends the wait, in `done`. The waiting thread may free it as soon as this has written.
    ///
    /// # Safety
    /// `context` is that of a `Wait<T>` that is waited for.
    unsafe fn end(context: *mut c_void, value: T) {
        let wait = &*context.cast::<Wait<T>>();
        *wait.value.lock().unwrap() = Some(value);
        // The counter is 0, so this cannot fail.
        (&wait.signal)
            .write_all(&1u64.to_ne_bytes())
            .expect("eventfd");
    }

    /// Waits for the end, or before it for the cancellation of a run, if there is a descriptor for it: whether the
    /// end is there.
    fn is_over(&self, cancel: RawFd) -> bool {
        readable(self.signal.as_raw_fd(), cancel, -1)
    }

    fn take(self) -> Option<T> {
        let mut count = [0u8; 8];
        let _ = (&self.signal).read(&mut count);
        self.value.into_inner().ok().flatten()
    }
}

trait MutVoid {
    fn cast_mut_void(self) -> *mut c_void;
}

impl<T> MutVoid for *const T {
    fn cast_mut_void(self) -> *mut c_void {
        self as *mut c_void
    }
}

/// Waits until one of two descriptors is readable (-1: none), or for a time: whether the first one is.
fn readable(first: RawFd, second: RawFd, timeout_ms: c_int) -> bool {
    let mut both = [first, second].map(|fd| PollFd {
        fd,
        events: READABLE,
        revents: 0,
    });
    while unsafe { poll(both.as_mut_ptr(), 2, timeout_ms) } < 0 {}
    both[0].revents != 0
}

// ---- Runs ---------------------------------------------------------------------------------------

/// Levels of the host's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    Fault,
}

/// A request of HTTP, which the host makes.
#[derive(Clone, Debug, Default)]
pub struct FetchRequest {
    pub url: String,
    /// "": GET.
    pub method: String,
    /// Lines "Name: value\n".
    pub headers: String,
    /// UTF-8; anything else comes from `body_file`.
    pub body: String,
    pub body_file: String,
    /// Limit of the response's body; 0: 1 MiB.
    pub max_bytes: i64,
    /// Zero: 60 s.
    pub timeout: Duration,
    pub sends_digest: bool,
}

#[derive(Clone, Debug)]
pub struct FetchResponse {
    /// The status of HTTP.
    pub status: i32,
    /// Lines "name: value\n".
    pub headers: String,
    pub body: Vec<u8>,
}

/// A request to run a task.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub task_id: String,
    /// A JSON object, or "".
    pub parameters: String,
    pub earliest: Option<SystemTime>,
    /// `raw::BG_KIND_...`; 0: that of the task.
    pub kind: u32,
    /// `raw::BG_NEEDS_...`, and `raw::BG_SUBMIT_...`.
    pub needs: u32,
}

impl Request {
    fn lowered(&self) -> bg_request {
        bg_request {
            size: size_of::<bg_request>() as u32,
            kind: self.kind,
            task_id: bg_str::new(&self.task_id),
            params: bg_str::new(&self.parameters),
            earliest_unix_ms: unix_ms(self.earliest),
            needs: self.needs,
            reserved: 0,
        }
    }
}

/// A pending request.
#[derive(Clone, Debug)]
pub struct Pending {
    pub task_id: String,
    pub kind: u32,
    pub needs: u32,
    /// Unix time in ms; 0: as soon as possible.
    pub earliest_unix_ms: i64,
}

/// What identifies a run to servers.
#[derive(Clone, Debug)]
pub struct Identity {
    pub epoch: u64,
    pub run_id: String,
    pub idempotency_key: String,
}

/// The place of a run in a trace: the values of two headers of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub traceparent: String,
    /// "": do not send the header.
    pub tracestate: String,
}

/// A transfer to begin; bghost.h has the meaning of each field.
#[derive(Clone, Debug, Default)]
pub struct TransferRequest {
    pub session: String,
    pub url: String,
    pub method: String,
    pub headers: String,
    pub body: String,
    pub file: String,
    pub form_field: String,
    pub form_name: String,
    pub form_type: String,
    pub digest: String,
    pub continuation: String,
    pub label: String,
    pub earliest: Option<SystemTime>,
    pub max_bytes: i64,
    pub idle_timeout: Duration,
    pub total_timeout: Duration,
    /// `raw::BG_TRANSFER_...`.
    pub flags: u32,
}

/// The id of a transfer, which stays valid in later runs and processes.
#[derive(Clone, Copy)]
pub struct Transfer(pub bg_transfer);

impl Transfer {
    /// From its text, for instance that of the parameters of a wake; `None` if it is too long for one.
    pub fn from_id(id: &str) -> Option<Transfer> {
        let mut raw = bg_transfer { id: [0; 32] };
        if id.len() >= raw.id.len() {
            return None;
        }
        for (place, byte) in raw.id.iter_mut().zip(id.bytes()) {
            *place = byte as c_char;
        }
        Some(Transfer(raw))
    }

    pub fn id(&self) -> String {
        fixed(&self.0.id)
    }
}

/// A message to people; bghost.h has the meaning of each field.
#[derive(Clone, Debug)]
pub struct Notification {
    pub id: String,
    pub title: String,
    pub subtitle: String,
    pub body: String,
    pub thread: String,
    pub category: String,
    pub user_info: String,
    pub actions: String,
    pub at: Option<SystemTime>,
    pub every: Duration,
    pub calendar: String,
    pub time_zone: String,
    /// `raw::BG_NOTIFY_...`.
    pub level: u32,
}

impl Default for Notification {
    fn default() -> Notification {
        let none = String::new;
        Notification {
            id: none(),
            title: none(),
            subtitle: none(),
            body: none(),
            thread: none(),
            category: none(),
            user_info: none(),
            actions: none(),
            at: None,
            every: Duration::ZERO,
            calendar: none(),
            time_zone: none(),
            level: BG_NOTIFY_ACTIVE,
        }
    }
}

/// One call of a handler.
pub struct Run<'a> {
    info: &'a bg_run_info,
    host: &'static bg_host,
}

// What it points to never changes, and the functions of the host may be called from any thread.
unsafe impl Send for Run<'_> {}
unsafe impl Sync for Run<'_> {}

impl Run<'_> {
    pub fn number(&self) -> bg_run {
        self.info.run
    }

    /// Counts from 1.
    pub fn attempt(&self) -> u32 {
        self.info.attempt
    }

    pub fn task_id(&self) -> String {
        copy(self.info.task_id)
    }

    /// All parameters: a JSON object.
    pub fn parameters(&self) -> String {
        copy(self.info.params)
    }

    /// The absolute path of the plugin's own folder, which is kept from run to run.
    pub fn data_dir(&self) -> std::path::PathBuf {
        std::path::PathBuf::from(copy(self.info.data_dir))
    }

    /// Whether the parameters are ended transfers of a session.
    pub fn is_wake(&self) -> bool {
        self.info.flags & BG_RUN_WAKE != 0
    }

    /// Whether the handler is to stop; fast enough for inner loops.
    pub fn is_cancelled(&self) -> bool {
        unsafe { (self.host.cancelled)(self.host, self.info.run) != BG_OK }
    }

    /// `Error::Cancelled` if the handler is to stop, for `?`.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    pub fn log(&self, message: &str) {
        self.log_at(Level::Info, message);
    }

    pub fn log_at(&self, level: Level, message: &str) {
        unsafe { (self.host.log)(self.host, self.info.run, level as u32, bg_str::new(message)) };
    }

    /// `done` of `total` units; a total of 0 is not known.
    pub fn progress(&self, done: u64, total: u64, phase: &str) {
        let phase = bg_str::new(phase);
        unsafe { (self.host.progress)(self.host, self.info.run, done, total, phase) };
    }

    /// The parameter at a JSON pointer, such as "/limit", as text; `None` if there is none.
    pub fn parameter(&self, pointer: &str) -> Result<Option<String>> {
        let value = grown("param", |buffer, capacity, need| unsafe {
            let pointer = bg_str::new(pointer);
            (self.host.param)(self.host, self.info.run, pointer, buffer, capacity, need)
        });
        match value {
            Err(Error::Host(BG_E_ABSENT, _)) => Ok(None),
            value => value.map(Some),
        }
    }

    /// Waits, and returns `Error::Cancelled` as soon as the host cancels the run. With a host that has a clock of its
    /// own, such as a test host, this is a time of that clock.
    pub fn sleep(&self, time: Duration) -> Result<()> {
        let clock = match table!(bg_clock, "bghost.clock/1", sleep) {
            Ok(clock) => clock,
            Err(_) => {
                let timeout = time.as_millis().min(i32::MAX as u128) as c_int;
                readable(self.info.cancel_fd, -1, timeout);
                return self.check_cancelled();
            }
        };
        let wait = Wait::<i32>::new()?;
        let mut now = 0;
        check(
            unsafe { ((*clock).now)(self.host, std::ptr::null_mut(), &mut now) },
            "now",
        )?;
        extern "C" fn done(context: *mut c_void, _: bg_sleep, status: i32) {
            unsafe { Wait::end(context, status) };
        }
        let until = now.saturating_add(time.as_nanos().min(i64::MAX as u128) as i64);
        let none = std::ptr::null_mut();
        let status = unsafe {
            ((*clock).sleep)(self.host, self.info.run, until, done, wait.context(), none)
        };
        check(status, "sleep")?;
        wait.is_over(-1);
        match wait.take() {
            Some(BG_OK) => Ok(()),
            _ => Err(Error::Cancelled),
        }
    }

    /// Makes a request of HTTP, and waits for its end: `Error::Cancelled` if the host cancels the run meanwhile. A
    /// status such as 404 is a response.
    pub fn fetch(&self, request: &FetchRequest) -> Result<FetchResponse> {
        let table = table!(bg_fetches, "bghost.fetch/1", cancel)?;
        let raw = bg_fetch_request {
            size: size_of::<bg_fetch_request>() as u32,
            flags: if request.sends_digest {
                BG_FETCH_DIGEST
            } else {
                0
            },
            url: bg_str::new(&request.url),
            method: bg_str::new(&request.method),
            headers: bg_str::new(&request.headers),
            body: bg_str::new(&request.body),
            body_file: bg_str::new(&request.body_file),
            max_bytes: request.max_bytes,
            timeout_ms: ms(request.timeout),
        };
        extern "C" fn done(context: *mut c_void, _: bg_fetch, result: *const bg_fetch_result) {
            let result = unsafe { &*result };
            let ended = match result.status {
                BG_OK => Ok(FetchResponse {
                    status: result.http_status,
                    headers: copy(result.headers),
                    body: bytes(result.body).to_vec(),
                }),
                BG_E_CANCELLED => Err(Error::Cancelled),
                _ => Err(Error::Failed(copy(result.message))),
            };
            unsafe { Wait::end(context, ended) };
        }
        let wait = Wait::<Result<FetchResponse>>::new()?;
        let mut fetch = 0;
        let status = unsafe {
            ((*table).begin)(
                self.host,
                self.info.run,
                &raw,
                done,
                wait.context(),
                &mut fetch,
            )
        };
        check(status, "fetch")?;
        if !wait.is_over(self.info.cancel_fd) {
            // `done` is still called, also if the fetch has just ended.
            unsafe { ((*table).cancel)(self.host, fetch) };
            wait.is_over(-1);
        }
        wait.take().unwrap_or(Err(Error::Cancelled))
    }

    /// Submits a request in the name of this run.
    pub fn submit(&self, request: &Request) -> Result<()> {
        let table = table!(bg_runs, "bghost.run/1", submit)?;
        let raw = request.lowered();
        check(
            unsafe { ((*table).submit)(self.host, self.info.run, &raw) },
            "submit",
        )
    }

    pub fn identity(&self) -> Result<Identity> {
        let table = table!(bg_runs, "bghost.run/1", identity)?;
        let mut raw = bg_run_identity {
            size: size_of::<bg_run_identity>() as u32,
            reserved: 0,
            epoch: 0,
            run_id: [0; 32],
            idempotency_key: [0; 64],
        };
        check(
            unsafe { ((*table).identity)(self.host, self.info.run, &mut raw) },
            "identity",
        )?;
        Ok(Identity {
            epoch: raw.epoch,
            run_id: fixed(&raw.run_id),
            idempotency_key: fixed(&raw.idempotency_key),
        })
    }

    /// Saves bytes for the next attempt of the run's request, instead of those that were saved before; none deletes
    /// them. At most `raw::BG_CHECKPOINT_MAX`.
    pub fn checkpoint(&self, bytes: &[u8]) -> Result<()> {
        let table = table!(bg_checkpoints, "bghost.checkpoint/1", save)?;
        let status = unsafe {
            ((*table).save)(self.host, self.info.run, bytes.as_ptr().cast(), bytes.len())
        };
        check(status, "checkpoint")
    }

    /// What an earlier attempt or this run has saved; `None` if nothing is saved.
    pub fn saved_checkpoint(&self) -> Result<Option<Vec<u8>>> {
        let table = table!(bg_checkpoints, "bghost.checkpoint/1", load)?;
        let mut buffer = vec![0u8; BG_CHECKPOINT_MAX as usize];
        let mut length = 0;
        let status = unsafe {
            let start = buffer.as_mut_ptr().cast();
            ((*table).load)(self.host, self.info.run, start, buffer.len(), &mut length)
        };
        if !found(status, "checkpoint")? {
            return Ok(None);
        }
        buffer.truncate(length);
        Ok(Some(buffer))
    }

    /// The place of this run in a trace, for requests that the plugin makes itself; `None` if it has none.
    pub fn trace(&self) -> Result<Option<Trace>> {
        let table = table!(bg_traces, "bghost.trace/1", context)?;
        let mut raw = bg_trace_context {
            size: size_of::<bg_trace_context>() as u32,
            reserved: 0,
            traceparent: [0; 64],
            tracestate: [0; 520],
        };
        let status = unsafe { ((*table).context)(self.host, self.info.run, &mut raw) };
        if !found(status, "trace")? {
            return Ok(None);
        }
        Ok(Some(Trace {
            traceparent: fixed(&raw.traceparent),
            tracestate: fixed(&raw.tracestate),
        }))
    }

    /// The missed starts that this run makes up for.
    pub fn missed(&self) -> Result<bg_missed> {
        let table = table!(bg_statuses, "bghost.status/1", missed)?;
        let mut raw = bg_missed {
            size: size_of::<bg_missed>() as u32,
            ..Default::default()
        };
        check(
            unsafe { ((*table).missed)(self.host, self.info.run, &mut raw) },
            "missed",
        )?;
        Ok(raw)
    }

    /// Starts a transfer, which outlives the run.
    pub fn begin(&self, request: &TransferRequest) -> Result<Transfer> {
        let table = table!(bg_transfers, "bghost.transfer/1", begin)?;
        let raw = bg_transfer_request {
            size: size_of::<bg_transfer_request>() as u32,
            flags: request.flags,
            session: bg_str::new(&request.session),
            url: bg_str::new(&request.url),
            method: bg_str::new(&request.method),
            headers: bg_str::new(&request.headers),
            body: bg_str::new(&request.body),
            file: bg_str::new(&request.file),
            form_field: bg_str::new(&request.form_field),
            form_name: bg_str::new(&request.form_name),
            form_type: bg_str::new(&request.form_type),
            digest: bg_str::new(&request.digest),
            continuation: bg_str::new(&request.continuation),
            label: bg_str::new(&request.label),
            earliest_unix_ms: unix_ms(request.earliest),
            max_bytes: request.max_bytes,
            idle_timeout_ms: ms(request.idle_timeout),
            total_timeout_ms: ms(request.total_timeout),
        };
        let mut out = bg_transfer { id: [0; 32] };
        let status = unsafe { ((*table).begin)(self.host, self.info.run, &raw, &mut out) };
        check(status, "transfer")?;
        Ok(Transfer(out))
    }

    /// Waits for the end of a transfer: the JSON object that describes it. `Error::Cancelled` if the host cancels the
    /// run first; the transfer then goes on.
    pub fn wait(&self, transfer: &Transfer) -> Result<String> {
        let table = table!(bg_transfers, "bghost.transfer/1", wait)?;
        extern "C" fn done(context: *mut c_void, end: *const bg_transfer_end) {
            let end = unsafe { &*end };
            unsafe { Wait::end(context, (end.status, copy(end.transfer))) };
        }
        let wait = Wait::<(i32, String)>::new()?;
        let status =
            unsafe { ((*table).wait)(self.host, self.info.run, &transfer.0, done, wait.context()) };
        check(status, "wait")?;
        wait.is_over(-1);
        match wait.take() {
            Some((BG_OK, end)) => Ok(end),
            Some((BG_E_CANCELLED, _)) | None => Err(Error::Cancelled),
            Some((status, _)) => Err(Error::Host(status, "wait")),
        }
    }

    /// In a wake: keeps ends for a later run.
    pub fn keep(&self, ends: &[Transfer]) -> Result<()> {
        let table = table!(bg_wakes, "bghost.wake/1", keep)?;
        let ids: Vec<bg_transfer> = ends.iter().map(|end| end.0).collect();
        let status = unsafe { ((*table).keep)(self.host, self.info.run, ids.as_ptr(), ids.len()) };
        check(status, "keep")
    }

    /// Claims kept ends of a session: a JSON array, which is empty if there are no more.
    pub fn claim(&self, session: &str) -> Result<String> {
        let table = table!(bg_wakes, "bghost.wake/1", claim)?;
        grown("claim", |buffer, capacity, need| unsafe {
            let session = bg_str::new(session);
            ((*table).claim)(self.host, self.info.run, session, buffer, capacity, need)
        })
    }

    pub fn post(&self, note: &Notification) -> Result<()> {
        let table = table!(bg_notifier, "bghost.notify/1", post)?;
        let raw = bg_notification {
            size: size_of::<bg_notification>() as u32,
            level: note.level,
            id: bg_str::new(&note.id),
            title: bg_str::new(&note.title),
            subtitle: bg_str::new(&note.subtitle),
            body: bg_str::new(&note.body),
            thread: bg_str::new(&note.thread),
            category: bg_str::new(&note.category),
            user_info: bg_str::new(&note.user_info),
            actions: bg_str::new(&note.actions),
            at_unix_ms: unix_ms(note.at),
            every_ms: ms(note.every),
            calendar: bg_str::new(&note.calendar),
            time_zone: bg_str::new(&note.time_zone),
        };
        check(
            unsafe { ((*table).post)(self.host, self.info.run, &raw) },
            "post",
        )
    }

    /// Says what the run fails with, to a host that takes it.
    fn describe(&self, origin: &Origin) {
        let raw = bg_run_error {
            size: size_of::<bg_run_error>() as u32,
            line: origin.line,
            type_name: bg_str::new(origin.type_name),
            file: bg_str::new(origin.file),
        };
        if let Ok(table) = table!(bg_runs, "bghost.run/1", error) {
            // The outcome does not depend on it.
            let _ = unsafe { ((*table).error)(self.host, self.info.run, &raw) };
        }
    }

    fn complete(&self, status: i32, message: &str, json: &str, retry_after: Duration) -> i32 {
        let result = bg_result {
            size: size_of::<bg_result>() as u32,
            status,
            message: bg_str::new(message),
            payload: bg_str::new(json),
            retry_after_ms: ms(retry_after),
        };
        unsafe { (self.host.complete)(self.host, self.info.run, &result) }
    }
}

// ---- What needs no run --------------------------------------------------------------------------

/// Submits a request; `Run::submit` also records which run did.
pub fn submit(request: &Request) -> Result<()> {
    let table = table!(bg_schedule, "bghost.schedule/1", submit)?;
    check(
        unsafe { ((*table).submit)(host(), &request.lowered()) },
        "submit",
    )
}

/// Withdraws the pending request of a task; false: there is none.
pub fn cancel_request(task_id: &str) -> Result<bool> {
    let table = table!(bg_schedule, "bghost.schedule/1", cancel)?;
    found(
        unsafe { ((*table).cancel)(host(), bg_str::new(task_id)) },
        "cancel",
    )
}

pub fn cancel_all_requests() -> Result<()> {
    let table = table!(bg_schedule, "bghost.schedule/1", cancel_all)?;
    check(unsafe { ((*table).cancel_all)(host()) }, "cancel_all")
}

/// The pending requests of the tasks that this plugin handles.
pub fn pending_requests() -> Result<Vec<Pending>> {
    let table = table!(bg_schedule, "bghost.schedule/1", pending)?;
    let mut capacity = 16;
    loop {
        let none = bg_pending {
            size: size_of::<bg_pending>() as u32,
            kind: 0,
            earliest_unix_ms: 0,
            task_id: [0; 136],
            needs: 0,
            reserved: 0,
        };
        let mut all = vec![none; capacity];
        let mut total = 0;
        let status = unsafe { ((*table).pending)(host(), all.as_mut_ptr(), capacity, &mut total) };
        check(status, "pending")?;
        if total > capacity {
            capacity = total;
            continue;
        }
        return Ok(all[..total]
            .iter()
            .map(|one| Pending {
                task_id: fixed(&one.task_id),
                kind: one.kind,
                needs: one.needs,
                earliest_unix_ms: one.earliest_unix_ms,
            })
            .collect());
    }
}

/// Whether background work of this plugin may start.
pub fn refresh_status() -> Result<bg_refresh> {
    let table = table!(bg_statuses, "bghost.status/1", refresh)?;
    let mut raw = bg_refresh {
        size: size_of::<bg_refresh>() as u32,
        ..Default::default()
    };
    check(unsafe { ((*table).refresh)(host(), &mut raw) }, "refresh")?;
    Ok(raw)
}

/// Cancels a transfer; false: it has ended or is unknown.
pub fn cancel_transfer(transfer: &Transfer) -> Result<bool> {
    let table = table!(bg_transfers, "bghost.transfer/1", cancel)?;
    found(unsafe { ((*table).cancel)(host(), &transfer.0) }, "cancel")
}

/// The transfers of a session, as a JSON array; with `after`, only those after that one.
pub fn transfers(session: &str, after: Option<&Transfer>) -> Result<String> {
    let table = table!(bg_transfers, "bghost.transfer/1", list)?;
    let after = after.map_or(std::ptr::null(), |transfer| {
        &transfer.0 as *const bg_transfer
    });
    grown("list", |buffer, capacity, need| unsafe {
        ((*table).list)(host(), bg_str::new(session), after, buffer, capacity, need)
    })
}

/// No later wake receives this end.
pub fn acknowledge(transfer: &Transfer) -> Result<()> {
    let table = table!(bg_transfers, "bghost.transfer/1", acknowledge)?;
    check(
        unsafe { ((*table).acknowledge)(host(), &transfer.0) },
        "acknowledge",
    )
}

/// Withdraws a notification; false: it is delivered or unknown.
pub fn withdraw_notification(id: &str) -> Result<bool> {
    let table = table!(bg_notifier, "bghost.notify/1", withdraw)?;
    found(
        unsafe { ((*table).withdraw)(host(), bg_str::new(id)) },
        "withdraw",
    )
}

/// The notifications that are not delivered yet, as a JSON array.
pub fn pending_notifications() -> Result<String> {
    let table = table!(bg_notifier, "bghost.notify/1", pending)?;
    grown("pending", |buffer, capacity, need| unsafe {
        ((*table).pending)(host(), buffer, capacity, need)
    })
}

/// The time since 1970 by the host's clock, or by the machine's if the host has none of its own.
pub fn now() -> Duration {
    let mut unix_ns = 0;
    let read = table!(bg_clock, "bghost.clock/1", now)
        .map(|clock| unsafe { ((*clock).now)(host(), &mut unix_ns, std::ptr::null_mut()) });
    if read == Ok(BG_OK) {
        return Duration::from_nanos(unix_ns.max(0) as u64);
    }
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

// ---- The plugin's table -------------------------------------------------------------------------

/// What a plugin's `open` is called with, on the main thread of its process.
pub struct Opening {
    config: bg_str,
}

impl Opening {
    /// `config` of the plugin in tasks.json: a JSON object.
    pub fn config(&self) -> String {
        copy(self.config)
    }

    /// Has the host call `service` on this thread whenever `fd` is readable. The caller keeps `fd` open until the
    /// process ends, and `service` must read it. At most 8 times; only in workers.
    pub fn serve<F: FnMut() + 'static>(&self, fd: RawFd, service: F) -> Result<()> {
        type Service = Box<dyn FnMut()>;
        extern "C" fn call(context: *mut c_void) {
            let service = unsafe { &mut *context.cast::<Service>() };
            // No panic may cross the boundary. It has been printed, and the next call follows.
            let _ = catch_unwind(AssertUnwindSafe(service));
        }
        let table = table!(bg_main, "bghost.main/1", serve)?;
        // The host calls it until the process ends, so it is never freed.
        let context = Box::into_raw(Box::new(Box::new(service) as Service));
        let status = unsafe { ((*table).serve)(host(), fd, call, context.cast()) };
        if status < 0 {
            drop(unsafe { Box::from_raw(context) });
        }
        check(status, "serve")
    }
}

/// Calls a handler. For `handler!`.
///
/// # Safety
/// `info` is what the host gave to `start`.
pub unsafe fn execute(info: *const bg_run_info, function: fn(&Run) -> Result<String>) -> i32 {
    let run = Run {
        info: &*info,
        host: host(),
    };
    let error = match catch_unwind(AssertUnwindSafe(|| function(&run))) {
        Ok(Ok(json)) => match run.complete(BG_OK, "", &json, Duration::ZERO) {
            BG_OK | BG_E_STALE => return BG_PENDING,
            BG_E_LIMIT => Error::Failed("the result is too long".into()),
            _ => Error::Failed("the result is not JSON".into()),
        },
        Ok(Err(error)) => error,
        Err(cause) => {
            let text = cause.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
            Error::Failed(format!("panic: {}", text.unwrap_or_default()))
        }
    };
    let delay = if let Error::Retry(_, delay) = &error {
        *delay
    } else {
        Duration::ZERO
    };
    if let Error::Caught(_, origin) = &error {
        run.describe(origin);
    }
    match run.complete(error.status(), &error.message(), "", delay) {
        BG_OK | BG_E_STALE => BG_PENDING,
        _ => error.status(),
    }
}

/// Calls `open` of a plugin. For `plugin!`.
pub fn execute_open(config: bg_str, open: fn(&Opening) -> Result<()>) -> i32 {
    match catch_unwind(AssertUnwindSafe(|| open(&Opening { config }))) {
        Ok(Ok(())) => BG_OK,
        ended => {
            let text = match ended {
                Ok(Err(error)) => error.message(),
                _ => "panic in open()".into(),
            };
            unsafe { (host().log)(host(), 0, Level::Error as u32, bg_str::new(&text)) };
            BG_E_FAILED
        }
    }
}

/// Keeps the host's table. For `plugin!`.
pub fn enter(given: *const bg_host) {
    HOST.store(given as *mut bg_host, Ordering::Release);
}

/// The pointers of a table. For `plugin!`.
pub struct Pointers<const N: usize>([*const bg_task; N]);

unsafe impl<const N: usize> Sync for Pointers<N> {}

impl<const N: usize> Pointers<N> {
    pub const fn new(tasks: &'static [bg_task; N]) -> Pointers<N> {
        let mut all = [std::ptr::null(); N];
        let mut index = 0;
        while index < N {
            all[index] = &tasks[index] as *const bg_task;
            index += 1;
        }
        Pointers(all)
    }

    pub const fn first(&'static self) -> *const *const bg_task {
        self.0.as_ptr()
    }
}

/// The ELF note by which the host knows the plugin before any of it runs.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    owner: [u8; 8],
    text: [u8; N],
}

/// The length of a note's text: a multiple of four.
pub const fn padded(length: usize) -> usize {
    (length + 3) / 4 * 4
}

impl<const N: usize> Note<N> {
    /// What is missing to `N` bytes are NULs.
    pub const fn new(text: &str) -> Note<N> {
        assert!(N % 4 == 0 && N >= text.len());
        let bytes = text.as_bytes();
        let mut all = [0; N];
        let mut index = 0;
        while index < bytes.len() {
            all[index] = bytes[index];
            index += 1;
        }
        Note {
            name_size: 7,
            text_size: N as u32,
            kind: 1,
            owner: *b"bghost\0\0",
            text: all,
        }
    }
}

/// Writes the note of a plugin: `note!("abi=1.0;id=org.example.hello;runtime=rust")`. `plugin!` does it itself.
#[allow(unused_macros)]
macro_rules! note {
    ($text:expr) => {
        const _: () = {
            const TEXT: &str = $text;
            #[used]
            #[link_section = ".note.bghost"]
            static NOTE: $crate::bghost::Note<{ $crate::bghost::padded(TEXT.len()) }> =
                $crate::bghost::Note::new(TEXT);
        };
    };
}
#[allow(unused_imports)]
pub(crate) use note;

/// A handler of a plugin: `handler!(function, "name")`, `handler!(function, "name", schema)` with the JSON Schema of
/// the parameters, or with `raw::BG_TASK_...` behind that.
macro_rules! handler {
    ($function:path, $name:expr) => {
        $crate::bghost::handler!($function, $name, "")
    };
    ($function:path, $name:expr, $schema:expr) => {
        $crate::bghost::handler!($function, $name, $schema, 0)
    };
    ($function:path, $name:expr, $schema:expr, $flags:expr) => {{
        extern "C" fn start(
            _: *mut ::std::ffi::c_void,
            info: *const $crate::bghost::raw::bg_run_info,
        ) -> i32 {
            unsafe { $crate::bghost::execute(info, $function) }
        }
        $crate::bghost::raw::bg_task {
            size: ::std::mem::size_of::<$crate::bghost::raw::bg_task>() as u32,
            // `start` takes as long as the run.
            flags: $crate::bghost::raw::BG_TASK_MAY_BLOCK | $flags,
            handler: $crate::bghost::raw::bg_str::new($name),
            params_schema: $crate::bghost::raw::bg_str::new($schema),
            start,
            cancel: None,
            release: None,
        }
    }};
}
pub(crate) use handler;

/// The plugin, from literals and handlers. With `open`, a function of `&Opening`, before `handlers`. The host checks
/// parameters against the schemas before a run.
macro_rules! bghost_plugin {
    (
        id: $id:literal, version: $version:literal, vendor: $vendor:literal,
        $(open: $open:path,)? handlers: [$($handler:expr),+ $(,)?] $(,)?
    ) => {
        $crate::bghost::note!(concat!("abi=1.0;id=", $id, ";runtime=rust;params=checked"));

        const _: () = {
            use $crate::bghost::raw::{bg_host, bg_plugin, bg_str, bg_task};
            const COUNT: usize = [$(stringify!($handler)),+].len();
            static TASKS: [bg_task; COUNT] = [$($handler),+];
            static POINTERS: $crate::bghost::Pointers<COUNT> =
                $crate::bghost::Pointers::new(&TASKS);
            type Open = extern "C" fn(*const bg_host, bg_str, *mut *mut ::std::ffi::c_void) -> i32;
            #[allow(unused_mut, unused_assignments)]
            const OPEN: Option<Open> = {
                let mut open: Option<Open> = None;
                $(
                    extern "C" fn opened(
                        _: *const bg_host,
                        config: bg_str,
                        _: *mut *mut ::std::ffi::c_void,
                    ) -> i32 {
                        $crate::bghost::execute_open(config, $open)
                    }
                    open = Some(opened);
                )?
                open
            };
            static PLUGIN: bg_plugin = bg_plugin {
                size: ::std::mem::size_of::<bg_plugin>() as u32,
                abi_major: 1,
                min_host_minor: 0,
                id: bg_str::new($id),
                version: bg_str::new($version),
                vendor: bg_str::new($vendor),
                flags: 0,
                n_tasks: COUNT as u32,
                tasks: POINTERS.first(),
                open: OPEN,
                drain: None,
                close: None,
            };

            #[no_mangle]
            pub extern "C" fn bghost_plugin_v1(host: *const bg_host) -> *const bg_plugin {
                $crate::bghost::enter(host);
                &PLUGIN
            }
        };
    };
}
// Rust 1.63 has an attribute `plugin`, so the macro has another name at first.
pub(crate) use bghost_plugin as plugin;
