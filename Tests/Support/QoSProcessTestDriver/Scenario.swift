import Dispatch
import Glibc
import QoSCore
import QoSRuntime

/// The course of a program.
enum Scenario: String, CaseIterable {
    case mainActor = "main-actor"
    case bodyOnMainActor = "body-on-main-actor"
    case pools
    case dispatchMain = "dispatch-main"
    case dispatchOrder = "dispatch-order"
    case dispatchBeforeRun = "dispatch-before-run"
    case busyMainActor = "busy-main-actor"
    case sleepOnMainActor = "sleep-on-main-actor"
    case manyOnMainActor = "many-on-main-actor"
    case libraryClocks = "library-clocks"
    case returns
    case throwsError = "throws"
    case throwsStatus = "throws-status"
    case exitsInBody = "exits-in-body"
    case printsWithoutNewline = "prints-without-newline"
    case waitsForSignal = "waits-for-signal"
    case cleansUpAfterSignal = "cleans-up-after-signal"
    case signalsItselfAtOnce = "signals-itself-at-once"
    case ignoresSignals = "ignores-signals"
    case clampedUntilSignal = "clamped-until-signal"
    case signalWhileMainActorIsBusy = "signal-while-main-actor-is-busy"
    case leavesSignalsAlone = "leaves-signals-alone"
    case blockedSignals = "blocked-signals"
    case runsTwice = "runs-twice"
    case taskBeforeRun = "task-before-run"
    case invalidConfiguration = "invalid-configuration"
    case shutsDown = "shuts-down"
    case otherScheduler = "other-scheduler"
    case sleepsBesideBlockedDefault = "sleeps-beside-blocked-default"
    case affinityShrinks = "affinity-shrinks"
    case widthFollows = "width-follows"
    case holdsTheEnd = "holds-the-end"
    case holdsForever = "holds-forever"
    case serviceKind = "service-kind"
    case interactiveKind = "interactive-kind"
    case busyActor = "busy-actor"
    case raisedOnMainActor = "raised-on-main-actor"
    case waitingStates = "waiting-states"
    case runningChildren = "running-children"
    case manyHiddenWaits = "many-hidden-waits"
    case hiddenWaitsUnderLoad = "hidden-waits-under-load"
    case keepsAwake = "keeps-awake"
    case guests
    case guestChild = "guest-child"
    case guestChildWithoutNice = "guest-child-without-nice"
    case printsForever = "prints-forever"
    case isProfiled = "is-profiled"
    case crashes
    case ignoredAtStart = "ignored-at-start"
    case fewThreads = "few-threads"
    case locksTwice = "locks-twice"
    case locksInCircle = "locks-in-circle"
    case manySchedulers = "many-schedulers"
    case cancelledSleeps = "cancelled-sleeps"
    case isDiagnosed = "is-diagnosed"

    var configuration: QoSProcess.Configuration {
        var configuration = QoSProcess.Configuration(
            scheduler: .init(processors: 2), signalGrace: .seconds(60))
        switch self {
        case .ignoresSignals where Driver.number > 0: configuration.signalGrace = .milliseconds(Driver.number)
        case .leavesSignalsAlone: configuration.endingSignals = []
        case .invalidConfiguration: configuration.scheduler.processors = 0
        case .interactiveKind: configuration.kind = .interactive
        case .fewThreads where CommandLine.arguments.count > 2:
            configuration.scheduler.appliesKernelEffects = false
            configuration.scheduler.schedulingCalls = Self.callsWithThreads(Driver.number)
            configuration.scheduler.observer = RefusalObserver()
        case .holdsForever where Driver.number > 0: configuration.signalGrace = .milliseconds(Driver.number)
        case .pools: configuration.qosClass = .userInitiated
        // A report has a worker of each class.
        case .crashes: configuration.qosClass = .default
        case .guests:
            // Workers are bound only if all of the process's processors are used.
            configuration.scheduler.processors = nil
            if case .mainActor(let kind) = GuestTable.maker { configuration.kind = kind }
        // A worker that is known to be blocked is not promoted before it runs again.
        case .isDiagnosed: configuration.scheduler.detectsBlocking = false
        case .busyActor, .waitingStates, .runningChildren, .manyHiddenWaits:
            // They wait until userInitiated is idle.
            configuration.qosClass = .default
            configuration.scheduler.workers = [.background: 1]
            configuration.scheduler.detectsBlocking = false
        default: break
        }
        return configuration
    }

    /// Ends with the task that is started before the runtime; awaiting the task itself would raise it.
    static let earlyTaskEnded = AsyncStream.makeStream(of: Never.self)

    /// Runs the part before the runtime.
    ///
    /// - Returns: an exit status if the program ends without it.
    func withoutRuntime() -> Int32? {
        switch self {
        case .taskBeforeRun:
            Task {
                Driver.say("early", threadName)
                Self.earlyTaskEnded.continuation.finish()
            }
        case .dispatchBeforeRun:
            DispatchQueue.main.async { Driver.say("block", isMainThread) }
        case .keepsAwake:
            // The folder with a made program in place of systemd-inhibit.
            unsafe setenv("PATH", CommandLine.arguments[2], 1)
        case .blockedSignals:
            Self.changeSignalMask(SIG_BLOCK)
        case .printsForever:
            // The test's process may ignore it, and children inherit that.
            signal(SIGPIPE, SIG_DFL)
        case .sleepsBesideBlockedDefault:
            return Self.sleepsBesideBlockedDefault()
        case .leavesSignalsAlone:
            // Whoever starts us may block them; then nobody hears them.
            Self.changeSignalMask(SIG_UNBLOCK)
        case .guests:
            GuestTable.begin()
            return GuestTable.runBesideDefaultExecutor()
        case .guestChild, .guestChildWithoutNice:
            GuestTable.beChild()
            return 0
        default:
            break
        }
        return nil
    }

    private static func changeSignalMask(_ how: Int32) {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe sigprocmask(how, &signals, nil)
    }
}
