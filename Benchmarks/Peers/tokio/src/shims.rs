//! Clocks and work: the C code that all peers share.

mod c {
    extern "C" {
        pub fn bench_now() -> u64;
        pub fn bench_thread_cpu() -> u64;
        pub fn bench_process_cpu() -> u64;
        pub fn bench_sleep_until(deadline: u64);
        pub fn bench_calibrate();
        pub fn bench_work(nanoseconds: u64) -> u64;
        pub fn bench_become_outside_world() -> i32;
        pub fn setpriority(which: i32, who: u32, nice: i32) -> i32;
    }
}

// SAFETY of all calls below: the functions take and give numbers, and any thread may call them; `bench_calibrate` is called
// before there are other threads.

pub fn now() -> u64 {
    unsafe { c::bench_now() }
}

pub fn thread_cpu() -> u64 {
    unsafe { c::bench_thread_cpu() }
}

pub fn process_cpu() -> u64 {
    unsafe { c::bench_process_cpu() }
}

pub fn sleep_until(deadline: u64) {
    unsafe { c::bench_sleep_until(deadline) }
}

pub fn calibrate() {
    unsafe { c::bench_calibrate() }
}

pub fn work(nanoseconds: u64) -> u64 {
    unsafe { c::bench_work(nanoseconds) }
}

/// Starts a thread that stands for the world outside.
pub fn outside<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(move || {
        unsafe { c::bench_become_outside_world() };
        body()
    })
}

/// Gives the calling thread nice 19.
pub fn become_nice() {
    unsafe { c::setpriority(0, 0, 19) };
}

pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
