/// The cost of one run of one program.
struct CostRecord: Codable {
    /// The kind of run.
    enum Run: String, Codable, CaseIterable {
        case first
        case unchanged
        case changed
    }

    let part: CostPart
    let corpus: String
    let program: String
    let run: Run
    let turn: Int
    /// Seconds.
    let wall: Double
    let cpu: Double
    /// Bytes.
    let memory: Int
    let read: Int
    let written: Int
    /// Bytes of the repository or the index after the run; of what went through the connection for a run over one.
    let stored: Int?

    init(
        _ part: CostPart, _ corpus: String, _ program: String, _ run: Run, turn: Int, _ cost: MeasuredRun, stored: Int?
    ) {
        (self.part, self.corpus, self.program, self.run, self.turn) = (part, corpus, program, run, turn)
        (wall, cpu, memory, read, written) = (cost.wall, cost.cpu, cost.memory, cost.read, cost.written)
        self.stored = stored
    }
}
