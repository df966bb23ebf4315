//! B3: cost per operation. The numbers of tasks and operations are those of the Swift cases.

use crate::shims;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use tokio::runtime::{Handle, Runtime};
use tokio::task::{yield_now, JoinSet};

/// What a batch costs, by name; `None` for a case that tokio does not have.
pub fn run(runtime: &Runtime, name: &str, seconds: f64) -> Option<String> {
    match name {
        "yield" => Some(measure(seconds, 50_000, || on_worker(runtime, yields()))),
        "group" => Some(measure(seconds, 20_000, || on_worker(runtime, group()))),
        "detached" => Some(measure(seconds, 20_000, || on_worker(runtime, detached()))),
        "outside" => {
            let (mut submitting, mut batches) = (0, 0);
            let json = measure(seconds, 20_000, || {
                submitting += outside(runtime.handle());
                batches += 1;
            });
            let each = submitting as f64 / (batches * 20_000) as f64;
            Some(json.replace('}', &format!(",\"submit_cpu_ns_per_op\":{each}}}")))
        }
        _ => None,
    }
}

/// Runs a batch to warm up, then batches until the time is up.
fn measure(seconds: f64, operations: usize, mut batch: impl FnMut()) -> String {
    batch();
    let (start, used) = (shims::now(), shims::process_cpu());
    let mut batches = 0;
    while batches == 0 || shims::now() < start + (seconds * 1e9) as u64 {
        batch();
        batches += 1;
    }
    let count = (batches * operations) as f64;
    let (time, processor_time) = (shims::now() - start, shims::process_cpu() - used);
    format!(
        "{{\"ns_per_op\":{},\"cpu_ns_per_op\":{}}}",
        time as f64 / count,
        processor_time as f64 / count
    )
}

/// Runs a batch in a task, not on the main thread.
fn on_worker(runtime: &Runtime, batch: impl std::future::Future<Output = ()> + Send + 'static) {
    if runtime.block_on(runtime.spawn(batch)).is_err() {
        crate::fail("a batch failed");
    }
}

async fn yields() {
    let mut tasks = JoinSet::new();
    for _ in 0..100 {
        tasks.spawn(async {
            for _ in 0..500 {
                yield_now().await;
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

async fn group() {
    let mut tasks = JoinSet::new();
    for number in 0..20_000 {
        if number >= 64 {
            tasks.join_next().await;
        }
        tasks.spawn(async move { number });
    }
    while tasks.join_next().await.is_some() {}
}

async fn detached() {
    for number in 0..20_000 {
        if tokio::spawn(async move { number }).await.is_err() {
            crate::fail("a task failed");
        }
    }
}

/// A batch from a thread that is no runtime's; the processor time that this thread used.
fn outside(handle: &Handle) -> u64 {
    let handle = handle.clone();
    let finished = Arc::new(AtomicUsize::new(0));
    let ended = finished.clone();
    let thread = std::thread::spawn(move || {
        let start = shims::thread_cpu();
        for number in 1..=20_000usize {
            while number > finished.load(Ordering::Acquire) + 256 {
                std::hint::spin_loop();
            }
            let finished = finished.clone();
            handle.spawn(async move { finished.fetch_add(1, Ordering::AcqRel) });
        }
        shims::thread_cpu() - start
    });
    let used = thread
        .join()
        .unwrap_or_else(|_| crate::fail("the outside thread failed"));
    while ended.load(Ordering::Acquire) < 20_000 {
        std::hint::spin_loop();
    }
    used
}
