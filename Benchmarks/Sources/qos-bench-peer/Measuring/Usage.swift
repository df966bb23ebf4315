import CBenchShims

/// The process's use of the processors up to a moment.
struct Usage {
    let time = bench_now()
    let processorTime = bench_process_cpu()
    let switches = bench_context_switches()
}
