/// The resources that the threads of a process have used up to a moment.
///
/// The difference of two snapshots is an ``EnergyReport``.
public struct EnergySnapshot: Sendable, Hashable, Codable {
    /// The use of one thread since its start.
    public struct Thread: Sendable, Hashable, Codable {
        /// The kernel's id.
        public let id: Int32
        /// The name, as `/proc` shows it.
        public let name: String
        /// The processor time, in nanoseconds.
        public let processorNanoseconds: UInt64
        /// The number of times that the thread went to sleep. Each of them ended, or will end, with a wake-up.
        public let voluntarySwitches: UInt64
        /// The number of times that the kernel took the processor away.
        public let involuntarySwitches: UInt64

        /// Makes a thread's record.
        public init(
            id: Int32, name: String, processorNanoseconds: UInt64, voluntarySwitches: UInt64,
            involuntarySwitches: UInt64
        ) {
            self.id = id
            self.name = name
            self.processorNanoseconds = processorNanoseconds
            self.voluntarySwitches = voluntarySwitches
            self.involuntarySwitches = involuntarySwitches
        }
    }

    /// An energy counter of the processor.
    public struct Counter: Sendable, Hashable, Codable {
        /// The place, as the kernel names it: `package-0`.
        public let name: String
        /// The energy since an arbitrary moment, in microjoules.
        public let microjoules: UInt64
        /// The value after which the counter begins at zero again.
        public let range: UInt64

        /// Makes a counter's record.
        public init(name: String, microjoules: UInt64, range: UInt64) {
            self.name = name
            self.microjoules = microjoules
            self.range = range
        }
    }

    /// The timers of the runtime that have fired for one class.
    public struct Timers: Sendable, Hashable, Codable {
        /// The class of the work that waited; `nil` for the runtime's own timers.
        public let qosClass: QoSClass?
        /// The number of timers that have fired.
        public let fired: UInt64
        /// The number of times that a thread woke up for such a timer. Timers that fire together share one.
        public let wakeUps: UInt64

        /// Makes a record.
        public init(qosClass: QoSClass?, fired: UInt64, wakeUps: UInt64) {
            self.qosClass = qosClass
            self.fired = fired
            self.wakeUps = wakeUps
        }
    }

    /// The moment, in nanoseconds of the monotonic clock.
    public let nanoseconds: UInt64

    /// The threads that live at the moment.
    public let threads: [Thread]

    /// The processor time of the process with all threads that have ended, in nanoseconds; `nil` if not known.
    public let processNanoseconds: UInt64?

    /// The counters of the machine's energy; empty where they cannot be read.
    public let counters: [Counter]

    /// The reason why there are no counters; `nil` if there are some.
    public let counterProblem: String?

    /// The timers of the runtime, from the highest class to the lowest; empty where they are not known.
    public let timers: [Timers]

    /// The reason why ``timers`` is empty; `nil` if it is not.
    public let timerProblem: String?

    /// Makes a snapshot.
    public init(
        nanoseconds: UInt64, threads: [Thread], processNanoseconds: UInt64? = nil, counters: [Counter] = [],
        counterProblem: String? = nil, timers: [Timers] = [], timerProblem: String? = nil
    ) {
        self.nanoseconds = nanoseconds
        self.threads = threads
        self.processNanoseconds = processNanoseconds
        self.counters = counters
        self.counterProblem = counterProblem
        self.timers = timers
        self.timerProblem = timerProblem
    }
}
