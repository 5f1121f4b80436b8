// SPDX-License-Identifier: Apache-2.0
//! Handlers in Rust that end in each way, and one that calls every wrapper of bghost.rs.
mod bghost;

use bghost::raw::*;
use bghost::{Error, FetchRequest, Notification, Opening, Request, Result, Run, TransferRequest};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::io::{AsRawFd, FromRawFd};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

fn succeed(run: &Run) -> Result<String> {
    Ok(format!(
        "{{\"attempt\":{},\"task\":\"{}\"}}",
        run.attempt(),
        run.task_id()
    ))
}

fn nothing(_: &Run) -> Result<String> {
    Ok(String::new())
}

fn fail(_: &Run) -> Result<String> {
    Err(std::io::Error::new(std::io::ErrorKind::Other, "no luck"))?
}

fn fail_finally(_: &Run) -> Result<String> {
    Err(Error::Final("gone".into()))
}

fn retry(_: &Run) -> Result<String> {
    Err(Error::Retry("busy".into(), Duration::from_millis(5)))
}

fn cancelled(_: &Run) -> Result<String> {
    Err(Error::Cancelled)
}

fn strange(_: &Run) -> Result<String> {
    panic!("oh {}", "no")
}

fn too_long(_: &Run) -> Result<String> {
    Ok(format!("\"{}\"", "x".repeat(1 << 20)))
}

fn not_json(_: &Run) -> Result<String> {
    Ok("{".into())
}

fn refused(run: &Run) -> Result<String> {
    run.submit(&Request {
        task_id: "no-such-task".into(),
        ..Default::default()
    })?;
    Ok(String::new())
}

/// What the main thread reads and answers, once for each byte.
static MAIN: Mutex<Option<(File, File)>> = Mutex::new(None);

extern "C" {
    fn pipe(ends: *mut i32) -> i32;
}

/// The two ends of a pipe. Workers may not make sockets.
fn new_pipe() -> Result<(File, File)> {
    let mut ends = [0; 2];
    if unsafe { pipe(ends.as_mut_ptr()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

fn open(opening: &Opening) -> Result<()> {
    let (mut questions, ask) = new_pipe()?;
    let (answers, mut answer) = new_pipe()?;
    *MAIN.lock().unwrap() = Some((ask, answers));
    let config = opening.config();
    opening.serve(questions.as_raw_fd(), move || {
        let mut byte = [0];
        questions.read_exact(&mut byte).unwrap();
        answer.write_all(config.as_bytes()).unwrap();
    })
}

fn require(condition: bool, what: &str) -> Result<()> {
    if condition {
        return Ok(());
    }
    Err(Error::Failed(what.into()))
}

fn every(run: &Run) -> Result<String> {
    let url = run.parameter("/url")?.unwrap();
    require(
        run.parameter("/none")?.is_none() && run.parameter("/long")?.unwrap().len() == 5000,
        "param",
    )?;
    let identity = run.identity()?;
    require(
        identity.run_id.len() == 26 && run.missed()?.count == 0,
        "identity, missed",
    )?;
    require(
        bghost::refresh_status()?.status == BG_REFRESH_AVAILABLE,
        "refresh",
    )?;

    require(
        run.saved_checkpoint()?.is_none() && run.trace()?.is_none(),
        "no checkpoint, no trace",
    )?;
    run.checkpoint(b"a\0b")?;
    require(run.saved_checkpoint()? == Some(b"a\0b".to_vec()), "checkpoint")?;
    run.checkpoint(b"")?;
    require(run.saved_checkpoint()?.is_none(), "deleted checkpoint")?;

    let request = Request {
        task_id: run.task_id(),
        earliest: Some(SystemTime::now() + Duration::from_secs(3600)),
        ..Default::default()
    };
    run.submit(&request)?;
    let pending = bghost::pending_requests()?;
    require(
        pending.len() == 1 && pending[0].task_id == run.task_id(),
        "pending",
    )?;
    require(bghost::cancel_request(&run.task_id())?, "cancel")?;
    require(!bghost::cancel_request(&run.task_id())?, "cancel twice")?;
    bghost::submit(&request)?;
    bghost::cancel_all_requests()?;
    require(bghost::pending_requests()?.is_empty(), "cancel_all")?;

    let fetch = FetchRequest {
        url: url.clone(),
        ..Default::default()
    };
    require(run.fetch(&fetch)?.body.len() == 1000, "fetch")?;

    let transfer = run.begin(&TransferRequest {
        session: "s".into(),
        url,
        ..Default::default()
    })?;
    require(
        bghost::Transfer::from_id(&transfer.id()).unwrap().id() == transfer.id(),
        "id",
    )?;
    require(run.wait(&transfer)?.contains("\"done\""), "wait")?;
    require(bghost::transfers("s", None)? == "[]", "list")?;
    require(
        bghost::transfers("s", Some(&transfer))? == "[]",
        "list after",
    )?;
    require(!bghost::cancel_transfer(&transfer)?, "cancel a transfer")?;
    require(run.claim("s")? == "[]", "claim")?;
    // This run has received the end, and it is no wake.
    let absent = Err(Error::Host(BG_E_ABSENT, "acknowledge"));
    require(bghost::acknowledge(&transfer) == absent, "acknowledge")?;
    require(
        run.keep(&[transfer]) == Err(Error::Host(BG_E_ABSENT, "keep")),
        "keep",
    )?;

    run.post(&Notification {
        id: "n".into(),
        title: "n".into(),
        at: request.earliest,
        ..Default::default()
    })?;
    require(
        bghost::pending_notifications()?.contains("\"n\""),
        "pending notifications",
    )?;
    require(bghost::withdraw_notification("n")?, "withdraw")?;
    require(!bghost::withdraw_notification("n")?, "withdraw twice")?;

    let (mut ask, mut answers) = MAIN.lock().unwrap().take().unwrap();
    ask.write_all(b"?")?;
    let mut answer = [0; 11];
    answers.read_exact(&mut answer)?;
    require(&answer == b"{\"of\":true}", "main")?;

    run.sleep(Duration::from_millis(1))?;
    require(bghost::now().as_secs() > 1_700_000_000, "now")?;
    Ok("true".into())
}

bghost::plugin! {
    id: "test.ends",
    version: "1.0.0",
    vendor: "Test",
    open: open,
    handlers: [
        bghost::handler!(succeed, "succeed"),
        bghost::handler!(nothing, "nothing"),
        bghost::handler!(fail, "fail"),
        bghost::handler!(fail_finally, "fail-finally"),
        bghost::handler!(retry, "retry"),
        bghost::handler!(cancelled, "cancelled"),
        bghost::handler!(strange, "strange"),
        bghost::handler!(too_long, "too-long"),
        bghost::handler!(not_json, "not-json"),
        bghost::handler!(refused, "refused"),
        bghost::handler!(every, "every", "", BG_TASK_SERIAL),
    ],
}
