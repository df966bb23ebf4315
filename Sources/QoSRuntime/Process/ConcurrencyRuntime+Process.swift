import QoSEventLoop
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The executors of the process.

extension ConcurrencyRuntime {
    /// Makes the installed executors those of the process. It must come before the first use of either.
    static func installProcessExecutors() {
        _createExecutors(factory: ProcessExecutorFactory.self)
    }

    private struct ProcessExecutorFactory: ExecutorFactory {
        static var mainExecutor: any MainExecutor {
            guard let main = ProcessExecutors.installed?.main else { return UnimplementedMainExecutor() }
            return main
        }

        static var defaultExecutor: any TaskExecutor {
            guard let executor = ProcessExecutors.installed?.scheduler.executor else {
                return UnimplementedTaskExecutor()
            }
            return executor
        }
    }
}

extension MainLoopExecutor: MainExecutor {
    func run() throws { try runLoop() }

    func stop() { loop.stop() }
}
