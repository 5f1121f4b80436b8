// SPDX-License-Identifier: Apache-2.0
//! A handler that reads a barometer five times: a fall of more than 10 hPa is a storm.
mod bghost;

use bghost::{Result, Run};
use std::time::Duration;

fn watch(run: &Run) -> Result<String> {
    let readings = [1013, 1010, 1006, 1001, 995];
    for n in 1..=readings.len() as u64 {
        run.sleep(Duration::from_millis(20))?;
        run.progress(n, readings.len() as u64, "reading");
    }
    let fall = readings[0] - readings[readings.len() - 1];
    Ok(format!("{{\"fall\":{},\"storm\":{}}}", fall, fall > 10))
}

bghost::plugin! {
    id: "org.example.weather-rust",
    version: "1.0.0",
    vendor: "Example",
    handlers: [bghost::handler!(watch, "weather.watch")],
}
