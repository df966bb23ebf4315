/// The runs of one peer with one case.
public struct Series: Sendable, Hashable {
    /// The program that runs the work.
    public let peer: PeerKind
    /// With what.
    public let caseName: CaseName
    /// The approximate length of one run. Seconds.
    public let seconds: Double

    /// Makes a series.
    public init(_ peer: PeerKind, _ caseName: CaseName, seconds: Double) {
        self.peer = peer
        self.caseName = caseName
        self.seconds = seconds
    }
}

/// Series that are run in turns and compared.
public struct Experiment: Sendable {
    /// Its name in the results.
    public let name: String
    /// The series, which run in this order, again and again.
    public let series: [Series]
    /// The figures.
    public let rules: [FigureRule]

    /// Makes an experiment.
    public init(_ name: String, _ series: [Series], _ rules: [FigureRule]) {
        self.name = name
        self.series = series
        self.rules = rules
    }

    /// Returns the experiment with some peers' series alone, and the rules that need no others; `nil` when no series is
    /// left.
    public func restricted(to peers: Set<PeerKind>) -> Experiment? {
        let kept = series.filter { peers.contains($0.peer) }
        guard !kept.isEmpty else { return nil }
        let known = Set(kept)
        return Experiment(name, kept, rules.filter { $0.operands.allSatisfy { known.contains($0.series) } })
    }
}

/// A benchmark: a question, and the experiments that answer it.
public struct Benchmark: Sendable {
    /// `B1`.
    public let id: String
    /// The question in a few words.
    public let title: String
    /// The experiments and their figures.
    public let experiments: @Sendable (Scope) -> [Experiment]

    /// The available time, and the rights of the measured processes.
    public struct Scope: Sendable, Hashable {
        /// Whether it has to be done within a minute: shorter runs, fewer cases.
        public let isQuick: Bool
        /// Whether they have no privileges: some targets depend on it.
        public let isUnprivileged: Bool
        /// Peers of other languages that are measured as well (``PeerKind/others``).
        public let others: [PeerKind]
        /// Whether B1 is run over many loads, for the picture, and not against its targets.
        public let isCurve: Bool

        /// Makes a scope.
        public init(isQuick: Bool, isUnprivileged: Bool, others: [PeerKind] = [], isCurve: Bool = false) {
            self.isQuick = isQuick
            self.isUnprivileged = isUnprivileged
            self.others = others
            self.isCurve = isCurve
        }
    }
}
