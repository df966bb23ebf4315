public import Glibc
public import QoSCore
import QoSEventLoop

/// The whole process on the runtime. Our pools are the default executor, and a libuv loop on the real main thread is
/// the main executor.
///
/// ```swift
/// @main
/// struct Service {
///     static func main() {
///         QoSProcess.run {
///             try await serve()
///         }
///     }
/// }
/// ```
///
/// Every task, actor and task group of the process then runs in the pool of its priority, those of libraries included
/// (rule C4). `MainActor` is the main thread, and sleeps use our timers. To have only some tasks on the runtime, make a
/// ``QoSScheduler`` instead.
public enum QoSProcess {
    /// The scheduler behind the process's default executor; `nil` before ``run(configuration:_:)``.
    ///
    /// Use its executors and ``QoSScheduler/withQoS(_:operation:)`` for work of another class than its priority's. It
    /// cannot be shut down.
    public static var scheduler: QoSScheduler? { ProcessExecutors.installed?.scheduler }

    /// Makes the runtime the executor of the process, runs a body, and ends the process.
    ///
    /// Call it on the main thread, from a synchronous `main`, before any task is started: Swift chooses its executors
    /// once. The body runs as a task of the configuration's class, userInitiated without another choice.
    ///
    /// - Important: The body runs in a pool. An asynchronous `main` runs on the main actor: a program that relies on
    ///   that moves to ``runOnMainActor(configuration:_:)``.
    ///
    /// **How the process ends**
    ///
    /// | event | exit status |
    /// |---|---|
    /// | the body returns | 0 |
    /// | the body throws ``ExitStatus`` | its code |
    /// | the body throws anything else | 1, and the error on standard error |
    /// | the body ends after SIGINT or SIGTERM | as above, but 128 + the signal's number for a `CancellationError` |
    /// | the body exceeds its grace after such a signal | 128 + the signal's number |
    /// | such a signal comes before the body has begun | 128 + the signal's number, at once |
    /// | one of these signals comes a second time | 128 + the signal's number, at once |
    /// | one of these signals comes while the end waits for work | 128 + the signal's number, at once |
    ///
    /// SIGINT and SIGTERM cancel the body's task, which then has ``Configuration/signalGrace`` to end. If work that
    /// declared `ShutdownBehavior.finish` outlasts the body, the end waits for the work, for at most
    /// ``Configuration/signalGrace``.
    ///
    /// `DispatchQueue.main` keeps working: its blocks run on the main thread. They and the main actor's jobs have one
    /// order, that of their submission. Only while no block waits, a job of a higher class goes before those of lower ones.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the pools, and of the end.
    ///   - body: the program.
    public static func run(
        configuration: Configuration = Configuration(),
        _ body: @escaping @Sendable () async throws -> Void
    ) -> Never {
        do {
            let executors = try ProcessExecutors.install(configuration)
            try ProcessRun(executors: executors, configuration: configuration).run(body)
        } catch {
            ProcessEnd.report("\(error)")
            exit(1)
        }
    }

    /// Runs like ``run(configuration:_:)``, but with the body on the main actor, like an asynchronous `main`.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the pools, and of the end.
    ///   - body: the program. Its synchronous parts run on the main thread, so they hold up the main actor and
    ///     `DispatchQueue.main`.
    public static func runOnMainActor(
        configuration: Configuration = Configuration(),
        _ body: @escaping @MainActor @Sendable () async throws -> Void
    ) -> Never {
        run(configuration: configuration) { try await body() }
    }
}

extension QoSProcess {
    /// The setup of the process, and its end.
    public struct Configuration: Sendable {
        /// The pools.
        public var scheduler: QoSScheduler.Configuration

        /// The user of the process. It decides the level of the main thread (rule T5).
        public var kind: Kind

        /// The class of the body's task, and so of the work that inherits from it: `userInitiated`, the class of a
        /// service's requests. A program that answers nobody takes a lower one. Work that inherits nothing and names
        /// no priority is `default` all the same (rule C2).
        public var qosClass: QoSClass

        /// The signals that ask the process to end: the body's task is cancelled. An empty set leaves signals alone.
        ///
        /// A signal that the process ignores at the start stays ignored, as `nohup` wants. If another library handles a
        /// signal, for example a `ServiceGroup`, leave that signal out.
        public var endingSignals: Set<Int32>

        /// The time that the body has to end after such a signal, and that work which blocks the end has after the
        /// body.
        public var signalGrace: Duration

        /// Whether the main thread's loop serves `DispatchQueue.main`.
        public var servesDispatchMain: Bool

        /// Makes a configuration.
        public init(
            scheduler: QoSScheduler.Configuration = QoSScheduler.Configuration(),
            kind: Kind = .service,
            qosClass: QoSClass = .userInitiated,
            endingSignals: Set<Int32> = [SIGINT, SIGTERM],
            signalGrace: Duration = .seconds(30),
            servesDispatchMain: Bool = true
        ) {
            self.scheduler = scheduler
            self.kind = kind
            self.qosClass = qosClass
            self.endingSignals = endingSignals
            self.signalGrace = signalGrace
            self.servesDispatchMain = servesDispatchMain
        }
    }

    /// An error that only holds the exit status of the process. Nothing is printed for it.
    public struct ExitStatus: Error, Sendable, Hashable {
        /// 0…255.
        public let code: UInt8

        /// Makes a status.
        public init(_ code: UInt8) {
            self.code = code
        }
    }
}
