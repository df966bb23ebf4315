import BenchCore
import Dispatch
import Glibc
import QoSCore
import QoSRuntime

/// Runs a body on the executor that is measured and ends the process.
enum PeerProcess {
    typealias Body = @Sendable (Stage) async -> RawFigures

    /// Must be called on the main thread, before any task is started.
    static func run(_ options: PeerOptions, outside: OutsideThread, _ body: @escaping Body) -> Never {
        let servesMainActor = options.servesMainActor
        let configuration = QoSScheduler.Configuration(processors: options.processors)
        switch options.peer {
        case .ours:
            runProcessWide(configuration, outside, body)
        case .oursWithOneWorker:
            runProcessWide(QoSScheduler.Configuration(processors: 1), outside, body)
        case .oursByPreference:
            do {
                let scheduler = try QoSScheduler(configuration: configuration)
                runBeside(Stage(.byPreference(scheduler), outside: outside), servesMainActor, body)
            } catch {
                PeerMain.fail("\(error)", status: 1)
            }
        case .defaultExecutor, .nio:
            // What NIO's pool runs has nothing to do with Swift's tasks; the one task that measures needs an executor.
            runBeside(Stage(.processWide(nil), outside: outside), servesMainActor, body)
        case .floor:
            let floor = FloorExecutor.installed()
            start(Stage(.processWide(nil), outside: outside), body)
            floor.runLoop()
        case .foundation, .tokio, .tokioNiced, .go, .java:
            PeerMain.fail("\(options.peer.rawValue) is measured by \(options.peer.program)", status: 64)
        }
    }

    private static func runProcessWide(
        _ configuration: QoSScheduler.Configuration, _ outside: OutsideThread, _ body: @escaping Body
    ) -> Never {
        // At default, as the other executors: a body of a higher class would raise what it awaits.
        QoSProcess.run(configuration: QoSProcess.Configuration(scheduler: configuration, qosClass: .default)) {
            let stage = Stage(.processWide(QoSProcess.scheduler), outside: outside)
            // Apart from the task that `run` made: measured is what an ordinary task sees.
            let figures = await stage.detached { await body(stage) }.value
            Output.line(figures.json)
        }
    }

    /// The main thread has nothing to do: the executor has threads of its own.
    private static func runBeside(_ stage: Stage, _ servesMainActor: Bool, _ body: @escaping Body) -> Never {
        start(stage, body)
        if servesMainActor { dispatchMain() }
        while true { pause() }
    }

    private static func start(_ stage: Stage, _ body: @escaping Body) {
        stage.detached {
            let figures = await body(stage)
            Output.line(figures.json)
            exit(0)
        }
    }
}
