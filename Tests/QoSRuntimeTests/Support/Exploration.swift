/// A protocol between threads, small enough that every interleaving of its steps can be tried.
protocol ExploredModel: Hashable {
    /// The possible next steps, each with a name; none at an end.
    var steps: [(name: String, next: Self)] { get }

    /// The broken invariant; `nil` when all hold.
    var violation: String? { get }
}

/// The result of trying every interleaving.
struct Exploration {
    /// The number of different states.
    let states: Int
    /// The number of ends.
    let ends: Int
    /// The first violation and the shortest way to it.
    let violation: String?

    /// Visits every state that can be reached, by breadth.
    init<Model: ExploredModel>(of start: Model) {
        var seen = [start: 0]
        var visited = [(state: start, cameFrom: -1, by: "start")]
        var ends = 0
        var index = 0
        while index < visited.count {
            let state = visited[index].state
            if let violation = state.violation {
                var way: [String] = []
                var step = index
                while step >= 0 {
                    way.append(visited[step].by)
                    step = visited[step].cameFrom
                }
                let text = way.reversed().joined(separator: "\n  ")
                (states, self.ends, self.violation) = (visited.count, ends, "\(violation), after\n  \(text)\n\(state)")
                return
            }
            let steps = state.steps
            if steps.isEmpty { ends += 1 }
            for step in steps where seen[step.next] == nil {
                seen[step.next] = visited.count
                visited.append((step.next, index, step.name))
            }
            index += 1
        }
        (states, self.ends, violation) = (visited.count, ends, nil)
    }
}
