public import QoSCore

extension QoSProcess {
    /// The user of the process: a person or other programs (rule T5).
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// A person uses the process directly. The main thread runs at `userInteractive`, and work created on it
        /// without a level of its own gets `userInitiated` (rule O2).
        case interactive
        /// The process answers others. The main thread runs at `default`.
        case service

        /// The level of the main thread.
        public var mainLevel: QoSLevel {
            MainThread.level(isInteractive: self == .interactive)
        }
    }

    /// The kind chosen by ``Configuration/kind``; `service` before ``run(configuration:_:)``. Any thread.
    public static var kind: Kind { MainThread.belongsToInteractive ? .interactive : .service }

    /// Whether the calling thread is the main thread of an interactive process (rule O2).
    package static var isInteractiveMain: Bool {
        MainThread.belongsToInteractive && MainThread.levelIfCurrent != nil
    }
}
