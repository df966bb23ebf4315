package import QoSCore

/// The measurements of a run.
package struct SimulationResults: Sendable {
    /// By rank: the longest time for which the class had work, was allowed to run, and had no core.
    package var longestUnserved: [Int64] = Array(repeating: 0, count: 5)
    /// By rank: nanoseconds of core time.
    package var coreTime: [Int64] = Array(repeating: 0, count: 5)
    /// By rank: jobs that ended.
    package var finished: [Int] = Array(repeating: 0, count: 5)
    /// By rank: time from arrival to the start of each job.
    package var delays: [[Int64]] = Array(repeating: [], count: 5)
    /// The longest job of each class by rank.
    package var longestJob: [Int64] = Array(repeating: 0, count: 5)
    /// The most workers that were in jobs at a time.
    package var mostWorkers = 0

    /// The delay below which a part of the jobs of a class started; 0 without jobs.
    package func delay(_ qosClass: QoSClass, quantile: Double) -> Int64 {
        let sorted = delays[qosClass.rank].sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
    }
}
