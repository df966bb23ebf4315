/// A runner of measured work.
public enum PeerKind: String, Sendable, Hashable, CaseIterable {
    /// The package's runtime as the executor of the whole process.
    case ours
    /// The package's runtime through executor preferences, beside Swift's default executor.
    case oursByPreference = "ours-preference"
    /// The package's runtime, process-wide, with one worker for each class.
    case oursWithOneWorker = "ours-one"
    /// Swift's default executor.
    case defaultExecutor = "default"
    /// The floor: a single-threaded loop without synchronisation as the executor, or C without any.
    case floor
    /// SwiftNIO's `NIOThreadPool`: closures, one queue for all.
    case nio
    /// Foundation's OperationQueue, in a program of its own: no other process is to load Foundation.
    case foundation
    /// Rust's tokio, one runtime of many threads.
    case tokio
    /// Two runtimes of tokio: the low work's threads have nice 19.
    case tokioNiced = "tokio-niced"
    /// Go's goroutines.
    case go
    /// Java: a pool of as many threads as processors; for costs per job the ForkJoinPool.
    case java

    /// Those that run any task: Swift executors.
    public static let executors: [PeerKind] = [
        .ours, .oursByPreference, .oursWithOneWorker, .defaultExecutor, .floor,
    ]

    /// Those of other languages: measured where they are asked for and the machine has what builds them.
    public static let others: [PeerKind] = [.tokio, .tokioNiced, .go, .java]

    /// The program that is started for it, beside the runner.
    public var program: String {
        switch self {
        case .foundation: "qos-bench-foundation"
        case .tokio, .tokioNiced: "qos-bench-tokio"
        case .go: "qos-bench-go"
        case .java: "qos-bench-java"
        default: "qos-bench-peer"
        }
    }

    /// Whether its program drops privileges by itself when it is told to; others are started without.
    public var dropsPrivileges: Bool { program == "qos-bench-peer" }

    /// The missing tool when the program of another language has not been built; `nil` for a program of Swift's package
    /// manager.
    public var requirement: String? {
        switch self {
        case .tokio, .tokioNiced: "librust-tokio-dev and cargo are not installed"
        case .go: "golang-go is not installed"
        case .java: "no JDK is installed, such as default-jdk-headless"
        default: nil
        }
    }
}
