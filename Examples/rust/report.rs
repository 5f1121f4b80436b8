// SPDX-License-Identifier: Apache-2.0
//! A handler that fetches a page, counts its own runs in the data directory, and asks for its next run.
mod bghost;

use bghost::{Error, FetchRequest, Request, Result, Run};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn report(run: &Run) -> Result<String> {
    let url = run.parameter("/url")?.unwrap_or_default();
    if url.is_empty() {
        return Err(Error::Final("`url` is missing".into()));
    }
    run.progress(0, 3, "fetching");
    // It ends early if the host cancels the run.
    let page = run.fetch(&FetchRequest {
        url,
        ..Default::default()
    })?;
    run.progress(1, 3, "counting");
    let runs = count(&run.data_dir().join("runs"))?;
    run.progress(2, 3, "submitting");
    if let Some(again) = run.parameter("/again")? {
        let seconds = match again.parse() {
            Ok(seconds @ 1..=86_400) => seconds,
            _ => return Err(Error::Final("`again` must be 1 to 86400 seconds".into())),
        };
        run.submit(&Request {
            task_id: run.task_id(),
            parameters: run.parameters(),
            earliest: Some(SystemTime::now() + Duration::from_secs(seconds)),
            ..Default::default()
        })?;
    }
    run.progress(3, 3, "done");
    run.log(&format!("fetched {} bytes", page.body.len()));
    Ok(format!(
        "{{\"status\":{},\"bytes\":{},\"runs\":{}}}",
        page.status,
        page.body.len(),
        runs
    ))
}

/// Appends a byte, which runs may do at the same time, and returns how many there are.
fn count(path: &Path) -> Result<u64> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(b".")?;
    Ok(file.metadata()?.len())
}

const SCHEMA: &str = r#"{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"again":{"type":"integer","minimum":1,"maximum":86400}}}"#;

bghost::plugin! {
    id: "org.example.report-rust",
    version: "1.0.0",
    vendor: "Example",
    handlers: [bghost::handler!(report, "report", SCHEMA)],
}
