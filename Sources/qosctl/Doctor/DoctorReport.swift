import QoSCore

/// What `qosctl doctor` found, in the form of its JSON.
struct DoctorReport: Encodable {
    /// The machine and what this process may use of it.
    struct Machine: Encodable {
        let kernel: String
        let architecture: String
        /// The processors in the affinity mask, `0-3,8`.
        let processors: String
        let processorCount: Int
        /// Processors' worth of time that control groups allow; absent without a limit.
        let quotaProcessors: Double?
        let quotaSource: String?
        /// How many threads can run at a time: what pools are sized by.
        let width: Int
        let libuv: String
        let problems: [String]
    }

    /// How much of the effects the process's rights allow.
    struct Rights: Encodable {
        let mode: String
        /// Whether nice values weigh this process's threads only, or others' too.
        let niceSpread: String
        let niceScope: String
        let allowed: [String]
        /// What was refused, with the kernel's reason.
        let refused: [String: String]
    }

    /// One knob of one class.
    struct Knob: Encodable {
        let name: String
        /// Absent where the class leaves it to the kernel.
        let asked: String?
        let inEffect: String
        let error: String?
        let isAsAsked: Bool
    }

    /// One class: its worker thread as the runtime set it up and as the kernel shows it.
    struct ClassEffects: Encodable {
        let qosClass: QoSClass
        let thread: String
        let knobs: [Knob]
        /// From `/proc/self/task/<tid>/stat`, read after the fact.
        let statPolicy: String
        let statNice: String
    }

    /// Share of time in which work stood still, percent of the last ten seconds.
    struct Pressure: Encodable {
        let resource: String
        let some10: Double?
        let full10: Double?
        let error: String?
    }

    let machine: Machine
    let rights: Rights
    let classes: [ClassEffects]
    let pressure: [Pressure]
    /// What Linux, or this machine, does not have.
    let limits: [String]
    /// What the operator can do.
    let improvements: [String]
}
