/// The part of a thread in a process of the runtime, by its name.
enum ThreadRole: Sendable, Hashable {
    /// A worker of a class.
    case worker(QoSClass)
    /// The event loop or the monitor of a scheduler.
    case runtime
    /// Another thread.
    case other

    private static let prefixes: [(prefix: String, qosClass: QoSClass)] = [
        ("qos-ui-", .userInteractive), ("qos-in-", .userInitiated), ("qos-df-", .default), ("qos-ut-", .utility),
        ("qos-bg-", .background),
    ]

    /// - Parameter name: as the kernel shows it.
    init(name: String) {
        if name == "qos-loop" || name == "qos-monitor" {
            self = .runtime
            return
        }
        let found = Self.prefixes.first { prefix, _ in
            name.hasPrefix(prefix) && Int(name.dropFirst(prefix.count)) != nil
        }
        self = found.map { .worker($0.qosClass) } ?? .other
    }
}
