/// The constants of one class in nanoseconds, ready for arithmetic.
struct ClassTiming: Sendable {
    let worstCaseWait: Int64
    let warp: Int64
    let quantum: Int64
    let coresPerWorker: Int

    init(_ constants: SchedulingParameters.PerClass) {
        worstCaseWait = constants.worstCaseWait.schedulerNanoseconds
        warp = constants.warp.schedulerNanoseconds
        quantum = max(1, constants.quantum.schedulerNanoseconds)
        coresPerWorker = constants.coresPerWorker
    }
}
