import BenchCore

/// A peer's command line.
struct PeerOptions: Sendable {
    let peer: PeerKind
    let benchmark: String
    let caseName: CaseName
    let seconds: Double
    let isUnprivileged: Bool

    /// Whether the thread that stands for the world outside asks for real time. In B3 and where B1 says
    /// `submitter=0`, it is an ordinary thread of nice 0.
    var hasRealTimeOutside: Bool {
        benchmark != "B3" && !caseName.parameters.contains { $0.key == "submitter" && $0.value == 0 }
    }

    /// Whether the main thread serves the main actor on executors other than ours, whose process always does. A main
    /// thread that only waits adds nothing to what is measured.
    var servesMainActor: Bool { benchmark == "B16" }

    /// The number of processors that a scheduler of ours counts on; `nil` for those of the machine.
    var processors: Int? {
        let count = Int(caseName["processors"])
        return count > 0 ? count : nil
    }

    init?(_ arguments: some Collection<String>) {
        let words = Array(arguments)
        guard words.count == 4 || words.count == 5, let peer = PeerKind(rawValue: words[0]),
            let caseName = CaseName(text: words[2]), let seconds = Double(words[3]), seconds > 0
        else { return nil }
        self.peer = peer
        benchmark = words[1].uppercased()
        self.caseName = caseName
        self.seconds = seconds
        isUnprivileged = words.count == 5
        if isUnprivileged, words[4] != "unprivileged" { return nil }
    }
}
