@testable import QoSRuntime

extension PoolModel {
    func workerSteps(_ index: Int) -> [Step] {
        switch workers[index] {
        case .noThread, .runs:
            []
        case .requested:
            [after("worker \(index) gets its thread") { $0.workers[index] = .atBoundary(searching: true) }]
        case .wakes(let waking, let then):
            [
                after("worker \(index) \(waking)") {
                    $0.workers[index] = $0.wake(waking).map { .wakes($0, then: then) } ?? then
                }
            ]
        case .atBoundary(let searching):
            boundarySteps(index, searching: searching)
        case .looksAtOwn, .looksAtInjected, .holdsInjected:
            lookingSteps(index)
        case .wantsToSearch, .steals, .looksAtInjectedAgain, .holdsStolen:
            searchingSteps(index)
        case .stopsSearching, .wasLastSearcher:
            foundSteps(index)
        case .parks, .goesIdle, .looksOnceMore, .sleeps:
            parkingSteps(index)
        case .beginsWaiting, .waitsAtCheckpoint:
            waitingSteps(index)
        }
    }

    private func boundarySteps(_ index: Int, searching: Bool) -> [Step] {
        // Who has to ask is published without a lock, so a worker may not see it yet.
        let goesOn = after("worker \(index) does not ask") { $0.workers[index] = .looksAtOwn(searching: searching) }
        guard admission.mustAsk else { return [goesOn] }
        let asks = after("worker \(index) asks") { model in
            let (parks, admits) = model.admission.workerAsked()
            let next: Worker =
                parks ? .parks(searching: searching, isCounted: false) : .looksAtOwn(searching: searching)
            model.workers[index] = admits ? .wakes(.wakesAdmitted, then: next) : next
        }
        return [goesOn, asks]
    }

    private func lookingSteps(_ index: Int) -> [Step] {
        let step = after("worker \(index) \(workers[index])") { model in
            switch workers[index] {
            case .looksAtOwn(let searching):
                if model.own[index] > 0 {
                    model.own[index] -= 1
                    model.workers[index] = searching ? .stopsSearching : .runs
                } else {
                    model.workers[index] = .looksAtInjected(searching: searching)
                }
            case .looksAtInjected(let searching):
                if model.injected > 0 {
                    model.workers[index] = .holdsInjected(model.injected, searching: searching)
                    model.injected = 0
                } else {
                    model.workers[index] = searching ? .steals(from: 0) : .wantsToSearch
                }
            case .holdsInjected(let count, let searching):
                model.own[index] += count
                let shares = count > 1 && !omissions.contains(.sharing)
                let next = Worker.looksAtOwn(searching: searching)
                model.workers[index] = shares ? .wakes(.looks, then: next) : next
            default:
                break
            }
        }
        return [step]
    }

    private func searchingSteps(_ index: Int) -> [Step] {
        switch workers[index] {
        case .wantsToSearch:
            let step = after("worker \(index) wants to search") { model in
                let joined: Void? = model.update { word in word.searchWanted().map { ($0, ()) } }
                model.workers[index] =
                    joined == nil ? .parks(searching: false, isCounted: true) : .steals(from: 0)
            }
            return [step]
        case .steals(let victim):
            let next = victim + 1 < width ? Worker.steals(from: victim + 1) : .looksAtInjectedAgain
            // The victim's lock may be held, and its slot is left alone, for as long as the search lasts.
            let passes = after("worker \(index) takes nothing from \(victim)") { $0.workers[index] = next }
            guard victim != index, own[victim] > 0 else { return [passes] }
            let steals = after("worker \(index) steals from \(victim)") {
                let taken = ($0.own[victim] + 1) / 2
                $0.own[victim] -= taken
                $0.workers[index] = .holdsStolen(taken - 1)
            }
            return [steals, passes]
        case .looksAtInjectedAgain:
            let step = after("worker \(index) looks at the injection queue") {
                $0.workers[index] =
                    $0.injected > 0 ? .looksAtInjected(searching: true) : .parks(searching: true, isCounted: true)
            }
            return [step]
        case .holdsStolen(let count):
            let step = after("worker \(index) queues what it stole") {
                $0.own[index] += count
                $0.workers[index] = .stopsSearching
            }
            return [step]
        default:
            return []
        }
    }

    private func foundSteps(_ index: Int) -> [Step] {
        let step = after("worker \(index) \(workers[index])") { model in
            switch workers[index] {
            case .stopsSearching:
                let wasLast = model.update { $0.workFound() } == true || model.isWakeLate
                model.workers[index] = wasLast ? .wasLastSearcher(looksAt: 0) : .runs
            case .wasLastSearcher(let source):
                if model.hasWork(at: source) {
                    model.workers[index] = .wakes(.looks, then: .runs)
                } else {
                    model.workers[index] = source < width ? .wasLastSearcher(looksAt: source + 1) : .runs
                }
            default:
                break
            }
        }
        return [step]
    }

    private func waitingSteps(_ index: Int) -> [Step] {
        guard workers[index] != .waitsAtCheckpoint || tokens[index] else { return [] }
        let step = after("worker \(index) \(workers[index])") { model in
            if workers[index] == .beginsWaiting {
                model.waiting[index] = true
                model.workers[index] =
                    omissions.contains(.lookAfterWaiting)
                    ? .waitsAtCheckpoint : .wakes(.looks, then: .waitsAtCheckpoint)
            } else {
                model.tokens[index] = false
                model.workers[index] = .wakes(.looksForWork(at: 0), then: .runs)
            }
        }
        return [step]
    }

    private func parkingSteps(_ index: Int) -> [Step] {
        guard workers[index] != .sleeps || tokens[index] else { return [] }
        let step = after("worker \(index) \(workers[index])") { model in
            switch workers[index] {
            case .parks(let searching, let isCounted):
                model.links[index] = PoolWord(rawValue: model.word).parkedTop
                _ = model.update { ($0.workerParks(index, wasSearching: searching), ()) }
                model.workers[index] = isCounted ? .goesIdle : .looksOnceMore(at: 0)
            case .goesIdle:
                model.admission.workerWentIdle()
                model.workers[index] = omissions.contains(.lookAfterParking) ? .sleeps : .looksOnceMore(at: 0)
            case .looksOnceMore(let source):
                if model.hasWork(at: source) {
                    model.workers[index] = .wakes(.looks, then: .sleeps)
                } else {
                    model.workers[index] = source < width ? .looksOnceMore(at: source + 1) : .sleeps
                }
            default:
                model.tokens[index] = false
                model.workers[index] = .atBoundary(searching: true)
            }
        }
        return [step]
    }
}
