import CBenchShims

/// What the process has used up to a moment.
struct Usage {
    let time = bench_now()
    let processorTime = bench_process_cpu()
    let switches = bench_context_switches()
}
