import Glibc
import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The configuration of a scheduler")
struct ConfigurationTests {
    @Test(
        "numbers that make no sense are refused, and the error says what would", arguments: [0, -1, .min, 1_023, .max])
    func processors(_ number: Int) throws {
        let error = try #require(throws: QoSRuntimeError.self) {
            try QoSScheduler(configuration: .init(processors: number, appliesKernelEffects: false))
        }
        #expect("\(error)".contains("\(number) processors: use 1 to \(PoolWord.maximumWorkers)"))
    }

    @Test("so are numbers of workers, of whatever class", arguments: QoSClass.allCases, [0, -3, 1_023])
    func workers(_ qosClass: QoSClass, _ number: Int) throws {
        let error = try #require(throws: QoSRuntimeError.self) {
            try QoSScheduler(
                configuration: .init(processors: 2, workers: [qosClass: number], appliesKernelEffects: false))
        }
        #expect("\(error)".contains("\(number) workers for \(qosClass): use 1 to \(PoolWord.maximumWorkers)"))
    }

    @Test(
        "each class has a worker for each processor, background half of them, unless it was said otherwise",
        arguments: [1, 2, 5])
    func widths(_ processors: Int) async throws {
        let configuration = QoSScheduler.Configuration(
            processors: processors, workers: [.utility: 7], appliesKernelEffects: false)
        try await withScheduler(configuration) { scheduler in
            let widths = scheduler.snapshot.pools.map(\.width)
            #expect(scheduler.snapshot.processors == processors)
            #expect(widths == [processors, processors, processors, 7, max(1, processors / 2)])
        }
    }

    @Test("without a word, the scheduler counts on the processors that the process may use")
    func automatic() async throws {
        try await withScheduler(.init(appliesKernelEffects: false)) { scheduler in
            #expect(scheduler.snapshot.processors >= 1)
        }
    }

    @Test("threads are created for a class with its first work, and no sooner")
    func lazy() async throws {
        try await withScheduler { scheduler in
            #expect(scheduler.snapshot.pools.allSatisfy { $0.workers == 0 })
            await Task(executorPreference: scheduler.executor(for: .utility)) {}.value
            let started = scheduler.snapshot.pools.filter { $0.workers > 0 }.map(\.qosClass)
            #expect(started == [.utility])
        }
    }

    @Test("a scheduler that finds no descriptor says what to raise")
    func noDescriptors() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var lowered = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &lowered)
            var status: Int32 = 8
            do throws(QoSRuntimeError) {
                _ = try QoSScheduler()
            } catch {
                if case .eventLoopUnavailable(let text) = error { status = text.contains("ulimit -n") ? 7 : 9 }
            }
            // What runs at exit may need descriptors.
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            exit(status)
        }
    }
}
