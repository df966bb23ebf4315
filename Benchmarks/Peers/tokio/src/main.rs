//! One measured process on tokio: `qos-bench-tokio tokio|tokio-niced BENCHMARK CASE SECONDS`.
//!
//! The cases, the seed, the work and the output are those of `qos-bench-peer`; work and clocks are its very C code.

mod cost;
mod foreground;
mod shims;

use std::collections::HashMap;
use tokio::runtime::{Builder, Runtime};

/// A case as `name,key=value,…`.
struct Case {
    name: String,
    values: HashMap<String, f64>,
}

impl Case {
    fn parse(text: &str) -> Option<Case> {
        let mut parts = text.split(',');
        let name = parts.next()?.to_string();
        let mut values = HashMap::new();
        for part in parts {
            let (key, value) = part.split_once('=')?;
            values.insert(key.to_string(), value.parse().ok()?);
        }
        Some(Case { name, values })
    }

    fn value(&self, key: &str) -> f64 {
        self.values.get(key).copied().unwrap_or(0.0)
    }
}

/// A runtime with as many threads as processors; `is_low` gives them nice 19.
fn runtime(is_low: bool) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(shims::processors())
        .on_thread_start(move || {
            if is_low {
                shims::become_nice();
            }
        })
        .build()
        .unwrap_or_else(|error| fail(&format!("no runtime: {error}")))
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    std::process::exit(64)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (case, seconds) = match &words[..] {
        [_, _, _, case, seconds] => (Case::parse(case), seconds.parse::<f64>().ok()),
        _ => (None, None),
    };
    let (Some(case), Some(seconds)) = (case, seconds) else {
        fail("usage: qos-bench-tokio tokio|tokio-niced BENCHMARK CASE SECONDS");
    };
    shims::calibrate();
    let high = runtime(false);
    let json = match (words[2].as_str(), case.name.as_str()) {
        ("B1", "foreground") => {
            let low = (words[1] == "tokio-niced").then(|| runtime(true));
            Some(foreground::run(
                high.handle(),
                low.as_ref().map_or(high.handle(), Runtime::handle),
                case.value("rho"),
                (case.value("low") * 1e6) as u64,
                seconds,
            ))
        }
        ("B3", name) => cost::run(&high, name, seconds),
        _ => None,
    };
    match json {
        Some(json) => println!("{json}"),
        None => fail(&format!("tokio has no case {} {}", words[2], words[3])),
    }
    std::process::exit(0)
}
