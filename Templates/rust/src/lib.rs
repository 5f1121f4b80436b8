//! A plugin of bghost: counts the prime numbers up to a limit.
mod bghost;

use bghost::{Error, Result, Run};

const LIMIT_MAX: u64 = 100_000_000;

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
fn read_limit(run: &Run) -> Result<u64> {
    let text = match run.parameter("/limit")? {
        Some(text) => text,
        None => return Ok(1_000_000),
    };
    match text.parse() {
        Ok(limit) if (2..=LIMIT_MAX).contains(&limit) => Ok(limit),
        // Final: another attempt would fail too.
        _ => Err(Error::Final(format!(
            "`limit` must be an integer of 2 to {LIMIT_MAX}"
        ))),
    }
}

/// One run. Runs may overlap, so what belongs to one is not kept in statics.
fn count_primes(run: &Run) -> Result<String> {
    let limit = read_limit(run)?;
    run.log("counting");
    let (mut count, mut largest) = (0, 0);
    for number in 2..=limit {
        if number % 1024 == 0 {
            run.check_cancelled()?;
            run.progress(number, limit, "counting");
        }
        if is_prime(number) {
            count += 1;
            largest = number;
        }
    }
    Ok(format!("{{\"count\":{count},\"largest\":{largest}}}"))
}

const SCHEMA: &str = r#"{"type":"object","properties":{"limit":{"type":"integer","minimum":2,"maximum":100000000}}}"#;

bghost::plugin! {
    id: "org.example.template-name",
    version: "0.1.0",
    vendor: "Example",
    handlers: [bghost::handler!(count_primes, "primes", SCHEMA)],
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
