//! B1: jobs of 300 µs that arrive at random, beside 24 tasks that work and yield.

use crate::shims;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use tokio::runtime::Handle;

const JOB: u64 = 300_000;
const LEAD_IN: u64 = 100_000_000;

/// Arrivals in nanoseconds from the start: the generator of `RandomArrivals`, with its seed.
fn arrivals(load: f64, seconds: f64) -> Vec<u64> {
    let mean_gap = JOB as f64 / (load * shims::processors() as f64);
    let (mut state, mut time) = (1u64, 0.0f64);
    let mut all = Vec::new();
    loop {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        time -= mean_gap * (((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln();
        all.push(time as u64);
        if time >= seconds * 1e9 {
            return all;
        }
    }
}

struct Shared {
    sojourns: Vec<AtomicU64>,
    finished: AtomicUsize,
    used: AtomicI64,
    is_over: AtomicBool,
}

pub fn run(high: &Handle, low: &Handle, load: f64, piece: u64, seconds: f64) -> String {
    let arrivals = arrivals(load, seconds);
    let (count, length) = (arrivals.len(), arrivals[arrivals.len() - 1]);
    let shared = Arc::new(Shared {
        sojourns: (0..count).map(|_| AtomicU64::new(0)).collect(),
        finished: AtomicUsize::new(0),
        used: AtomicI64::new(0),
        is_over: AtomicBool::new(false),
    });
    for _ in 0..if piece == 0 { 0 } else { 24 } {
        let shared = shared.clone();
        low.spawn(async move {
            while !shared.is_over.load(Ordering::Acquire) {
                shared
                    .used
                    .fetch_add(shims::work(piece) as i64, Ordering::AcqRel);
                tokio::task::yield_now().await;
            }
        });
    }
    let (high, outside) = (high.clone(), shared.clone());
    let (lateness, residual, outside_time) =
        shims::outside(move || submit(&high, &outside, &arrivals))
            .join()
            .unwrap_or_else(|_| crate::fail("the outside thread failed"));
    while shared.finished.load(Ordering::Acquire) < count {
        shims::sleep_until(shims::now() + 1_000_000);
    }
    let sojourns: Vec<u64> = shared
        .sojourns
        .iter()
        .map(|one| one.load(Ordering::Acquire))
        .collect();
    let mut json = format!(
        "{{\"sojourn\":{sojourns:?},\"arrival\":{lateness:?},\"outside_cores\":{}",
        outside_time as f64 / length as f64
    );
    if piece > 0 {
        let left = shims::processors() as f64 * (1.0 - load) * length as f64;
        json += &format!(",\"residual_fraction\":{}", residual as f64 / left);
    }
    json + "}"
}

/// Spawns the jobs at their times; how late each was, what the low work used meanwhile, and this thread.
fn submit(high: &Handle, shared: &Arc<Shared>, arrivals: &[u64]) -> (Vec<u64>, i64, u64) {
    let mut lateness = Vec::with_capacity(arrivals.len());
    let start = shims::now() + LEAD_IN;
    shims::sleep_until(start);
    let (used, own) = (shared.used.load(Ordering::Acquire), shims::thread_cpu());
    for (number, arrival) in arrivals.iter().enumerate() {
        let intended = start + arrival;
        if shims::now() < intended {
            shims::sleep_until(intended);
        }
        lateness.push(shims::now() - intended);
        let shared = shared.clone();
        high.spawn(async move {
            shims::work(JOB);
            shared.sojourns[number].store(shims::now() - intended, Ordering::Release);
            shared.finished.fetch_add(1, Ordering::AcqRel);
        });
    }
    let residual = shared.used.load(Ordering::Acquire) - used;
    shared.is_over.store(true, Ordering::Release);
    (lateness, residual, shims::thread_cpu() - own)
}
