// SPDX-License-Identifier: Apache-2.0
//! The part of bghost.h that a handler needs, written down for Rust 1.63 and later.
//!
//! Sizes and orders are those of the header, which a plugin's first load checks; `lib.rs` shows how to
//! use it.
#![allow(dead_code)]

use std::ffi::c_void;
use std::os::raw::c_char;

/// UTF-8 that needs no NUL; (null, 0) is "".
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    pub ptr: *const u8,
    pub len: usize,
}

impl Text {
    pub const NONE: Text = Text {
        ptr: std::ptr::null(),
        len: 0,
    };

    pub const fn new(text: &str) -> Text {
        Text {
            ptr: text.as_ptr(),
            len: text.len(),
        }
    }
}

pub const PENDING: i32 = 1;
pub const OK: i32 = 0;
pub const FAILED: i32 = -1;
pub const RETRY: i32 = -2;
pub const CANCELLED: i32 = -3;
pub const FINAL: i32 = -4;
pub const ABSENT: i32 = -16;

pub const MAY_BLOCK: u32 = 1;
pub const SERIAL: u32 = 2;

#[repr(C)]
pub struct Outcome {
    pub size: u32,
    pub status: i32,
    pub message: Text,
    pub payload: Text,
    pub retry_after_ms: i64,
}

#[repr(C)]
pub struct RunInfo {
    pub size: u32,
    pub attempt: u32,
    pub run: u64,
    pub task_id: Text,
    pub params: Text,
    pub data_dir: Text,
    pub deadline_mono_ns: i64,
    pub grace_ms: u32,
    pub max_result: u32,
    pub cancel_fd: i32,
    pub flags: u32,
    pub task: *const Task,
}

#[repr(C)]
pub struct Host {
    pub size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub ctx: *mut c_void,
    pub name: Text,
    pub version: Text,
    pub complete: unsafe extern "C" fn(*const Host, u64, *const Outcome) -> i32,
    pub cancelled: unsafe extern "C" fn(*const Host, u64) -> i32,
    pub set_state: unsafe extern "C" fn(*const Host, u64, *mut c_void) -> i32,
    pub progress: unsafe extern "C" fn(*const Host, u64, u64, u64, Text) -> i32,
    pub log: unsafe extern "C" fn(*const Host, u64, u32, Text) -> i32,
    pub param: unsafe extern "C" fn(*const Host, u64, Text, *mut c_char, usize, *mut usize) -> i32,
    pub extension: unsafe extern "C" fn(*const Host, *const c_char) -> *const c_void,
}

pub type Start = extern "C" fn(*mut c_void, *const RunInfo) -> i32;
pub type Cancel = extern "C" fn(*mut c_void, u64, *mut c_void, u32);
pub type Release = extern "C" fn(*mut c_void, u64, *mut c_void);

#[repr(C)]
pub struct Task {
    pub size: u32,
    pub flags: u32,
    pub handler: Text,
    pub params_schema: Text,
    pub start: Start,
    pub cancel: Option<Cancel>,
    pub release: Option<Release>,
}

#[repr(C)]
pub struct Plugin {
    pub size: u32,
    pub abi_major: u16,
    pub min_host_minor: u16,
    pub id: Text,
    pub version: Text,
    pub vendor: Text,
    pub flags: u32,
    pub n_tasks: u32,
    pub tasks: *const &'static Task,
    pub open: Option<extern "C" fn(*const Host, Text, *mut *mut c_void) -> i32>,
    pub drain: Option<extern "C" fn(*mut c_void)>,
    pub close: Option<extern "C" fn(*mut c_void)>,
}

// Tables hold pointers to memory that never changes.
unsafe impl Sync for Task {}
unsafe impl Sync for Plugin {}

/// The ELF note by which the host knows the plugin before any of it runs.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    pub name_size: u32,
    pub text_size: u32,
    pub kind: u32,
    pub owner: [u8; 8],
    pub text: [u8; N],
}

impl<const N: usize> Note<N> {
    /// The length of the text is to be a multiple of four: end it with `;`, as often as needed.
    pub const fn new(text: [u8; N]) -> Note<N> {
        assert!(N % 4 == 0);
        Note {
            name_size: 7,
            text_size: N as u32,
            kind: 1,
            owner: *b"bghost\0\0",
            text,
        }
    }
}
