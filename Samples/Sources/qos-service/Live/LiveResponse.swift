internal import QoSCore
internal import QoSWorkloads

/// The state of the workloads and of their surroundings, for `/events` and `/workloads`. Keys are written in snake case.
struct LiveResponse: Encodable {
    struct Requests: Encodable {
        /// Seconds of a step.
        let step: Double
        /// Steps since the start of the service, now.
        let now: Double
        let points: [RequestHistory.Point]
    }

    struct Run: Encodable {
        let item: Int64
        let name: String
        let `class`: QoSClass
        /// Steps since the start of the service.
        let begin: Double
        let end: Double?
    }

    struct Lane: Encodable {
        let `class`: QoSClass
        let running: Int
        let ready: Int
        let deferred: Int
        let blocked: Int
        let scheduled: Int
        /// Seconds.
        let oldestWait: Double?
    }

    struct Edge: Encodable {
        /// The item that waits.
        let from: Int64
        /// The item that it waits for.
        let to: Int64
        /// Whether the wait has raised that item.
        let isPromoted: Bool
    }

    let mayAct: Bool
    /// Whether all unfinished items are listed.
    let complete: Bool
    let items: [WorkloadResponse]
    let lanes: [Lane]
    let edges: [Edge]
    let requests: Requests
    let runs: [Run]
    /// The state of the machine; nil if nothing is governed, or for clients without the token.
    let conditions: [ConditionResponse]?

    init(
        _ snapshot: WorkloadSnapshot,
        requests: RequestHistory,
        runs: RunHistory,
        conditions: [ConditionResponse]?,
        isTrusted: Bool,
        at now: ContinuousClock.Instant = .now
    ) {
        mayAct = isTrusted
        complete = snapshot.isComplete
        items = snapshot.items.map { WorkloadResponse($0, pauses: snapshot.pauses, isTrusted: isTrusted) }
        lanes = QoSClass.descending.compactMap { qosClass in
            snapshot.lanes[qosClass].map { lane in
                Lane(
                    class: qosClass, running: lane.running, ready: lane.ready, deferred: lane.deferred,
                    blocked: lane.blocked, scheduled: lane.scheduled,
                    oldestWait: lane.oldestWait.map { ($0 / .milliseconds(1)).rounded() / 1000 })
            }
        }
        edges = Self.edges(of: snapshot)
        self.requests = Requests(
            step: RequestHistory.step / .seconds(1), now: requests.steps(until: now), points: requests.points(at: now))
        let first = now - RequestHistory.step * RequestHistory.length
        self.runs = runs.runs(since: first).map { run in
            Run(
                item: run.item.rawValue, name: run.name.rawValue, class: run.qosClass,
                begin: requests.steps(until: run.begin), end: run.end.map { requests.steps(until: $0) })
        }
        self.conditions = isTrusted ? conditions : nil
    }

    private static func edges(of snapshot: WorkloadSnapshot) -> [Edge] {
        let records = Dictionary(snapshot.items.map { ($0.id, $0.record) }, uniquingKeysWith: { $1 })
        var holders: [ConcurrencyKey: [WorkloadItemID]] = [:]
        for record in records.values where record.state == .running {
            if let key = record.request.concurrency { holders[key, default: []].append(record.id) }
        }
        return snapshot.items.map(\.record).filter { !$0.state.isEnded }.flatMap { record in
            // An item also waits for those that have the places of its key.
            let key = [.ready, .deferred].contains(record.state) ? record.request.concurrency : nil
            let holding = key.flatMap { holders[$0] }?.sorted() ?? []
            return (record.waitsFor + holding).map { id in
                let isPromoted = records[id].map { $0.request.level < $0.level && $0.level <= record.level } ?? false
                return Edge(from: record.id.rawValue, to: id.rawValue, isPromoted: isPromoted)
            }
        }
    }
}
