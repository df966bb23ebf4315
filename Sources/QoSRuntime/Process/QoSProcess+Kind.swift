public import QoSCore

extension QoSProcess {
    /// For whom the process is there (rule T5).
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// Somebody sits in front of it: the main thread runs at `userInteractive`, and what is created on it without anything
        /// else gets `userInitiated` (rule O2).
        case interactive
        /// It answers others: the main thread runs at `default`.
        case service

        /// The level of the main thread.
        public var mainLevel: QoSLevel {
            MainThread.level(isInteractive: self == .interactive)
        }
    }

    /// What was chosen by ``Configuration/kind``; `service` before ``run(configuration:_:)``. Any thread.
    public static var kind: Kind { MainThread.belongsToInteractive ? .interactive : .service }

    /// Whether the calling thread is the main thread of an interactive process (rule O2).
    package static var isInteractiveMain: Bool {
        MainThread.belongsToInteractive && MainThread.levelIfCurrent != nil
    }
}
