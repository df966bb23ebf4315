import QoSCore

/// The report of `qosctl doctor`, in the form of its JSON.
struct DoctorReport: Encodable {
    /// The machine, and the part that this process may use.
    struct Machine: Encodable {
        let kernel: String
        let architecture: String
        /// The processors in the affinity mask, `0-3,8`.
        let processors: String
        let processorCount: Int
        /// The processor time that control groups allow, in processors; absent without a limit.
        let quotaProcessors: Double?
        let quotaSource: String?
        /// How often the kernel stopped the group that has the quota; absent without one.
        let throttling: String?
        /// The number of threads that can run at a time. It sizes the pools.
        let width: Int
        let libuv: String
        /// Whether activities can keep the machine awake, and the reason if not.
        let sleepInhibitor: String
        let problems: [String]
    }

    /// The part of the effects that the process's rights allow.
    struct Rights: Encodable {
        let mode: String
        /// Whether nice values weigh only this process's threads, or others' too.
        let niceSpread: String
        let niceScope: String
        let allowed: [String]
        /// The refused effects, with the kernel's reason.
        let refused: [String: String]
    }

    /// One knob of one class.
    struct Knob: Encodable {
        let name: String
        /// The requested value; absent if the class leaves it to the kernel.
        let asked: String?
        let inEffect: String
        let error: String?
        let isAsAsked: Bool
    }

    /// One class: its worker thread as the runtime set it up, and as the kernel shows it.
    struct ClassEffects: Encodable {
        let qosClass: QoSClass
        let thread: String
        let knobs: [Knob]
        /// From `/proc/self/task/<tid>/stat`, read after the fact.
        let statPolicy: String
        let statNice: String
    }

    /// The share of time in which work stood still, in percent of the last ten seconds.
    struct Pressure: Encodable {
        let resource: String
        let some10: Double?
        let full10: Double?
        let error: String?
    }

    /// The threads that libraries make on threads of the runtime, as tried.
    struct LibraryThreadsPart: Encodable {
        /// Whether a thread that a library made from background work had the process's scheduling and processors.
        let areKept: Bool
        let text: String
        /// The numbers of threads and processes so far in this process that were made for threads of the runtime, and of
        /// those that inherited from one.
        let threads: UInt64
        let processes: UInt64
        let inherited: UInt64
    }

    let machine: Machine
    let rights: Rights
    let classes: [ClassEffects]
    let libraryThreads: LibraryThreadsPart
    let pressure: [Pressure]
    /// The sources of the machine's state.
    let sources: [Source]
    /// The private parts of the concurrency library.
    let library: [LibraryPart]
    /// The features that Linux, or this machine, lacks.
    let limits: [String]
    /// Suggestions for the operator.
    let improvements: [String]
}
