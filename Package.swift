// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors where the whole tree is checked (`.ci/run` sets the variable); a user's build, with another
/// compiler than ours, is not broken by a new warning.
let warningsAreErrors = Context.environment["QOS_WARNINGS_AS_ERRORS"] == "1"

var settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
if warningsAreErrors {
    settings.append(.treatAllWarnings(as: .error))
}

let package = Package(
    name: "swift-qos",
    products: [
        .library(name: "QoSCore", targets: ["QoSCore"]),
        .library(name: "QoSRuntime", targets: ["QoSRuntime"]),
        .library(name: "QoSOperations", targets: ["QoSOperations"]),
        .library(name: "QoSFiles", targets: ["QoSFiles"]),
        .library(name: "QoSMessages", targets: ["QoSMessages"]),
        .library(name: "QoSFoundation", targets: ["QoSFoundation"]),
        .library(name: "QoSWorkloads", targets: ["QoSWorkloads"]),
        .library(name: "QoSServiceLifecycle", targets: ["QoSServiceLifecycle"]),
        .library(name: "QoSObservability", targets: ["QoSObservability"]),
        .library(name: "QoSSQLiteStore", targets: ["QoSSQLiteStore"]),
        .library(name: "QoSTesting", targets: ["QoSTesting"]),
        .library(name: "QoSWorkloadsTesting", targets: ["QoSWorkloadsTesting"]),
        .executable(name: "qosctl", targets: ["qosctl"]),
    ],
    traits: [
        .trait(name: "ServiceLifecycle", description: "QoSServiceLifecycle: hosts of workloads as services."),
        .trait(name: "Observability", description: "QoSObservability: logs and metrics of workloads."),
        .trait(name: "SQLite", description: "QoSSQLiteStore: a durable store of workloads in SQLite, by GRDB."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.1.0"),
        // Only with their traits; a user without them resolves none of these.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // The system's event loop library and the few C calls that Swift cannot import.
        .systemLibrary(
            name: "CLibUV",
            path: "Sources/C/CLibUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"])]
        ),
        .target(name: "CQoSShims", path: "Sources/C/CQoSShims"),
        // Definitions of pthread_create and posix_spawn in front of the C library's: what libraries make is not scheduled as our threads.
        .target(name: "CQoSGuests", path: "Sources/C/CQoSGuests"),

        // Pure values and rules; imports nothing that acts.
        .target(
            name: "QoSCore",
            dependencies: [.product(name: "HeapModule", package: "swift-collections")]
        ),

        // Typed system calls; the event loop. Not products: they serve the runtime.
        .target(name: "QoSKernel", dependencies: ["CQoSShims", "CQoSGuests", "QoSCore"]),
        .target(name: "QoSEventLoop", dependencies: ["CLibUV"]),

        .target(
            name: "QoSRuntime",
            dependencies: [
                "QoSCore", "QoSKernel", "QoSEventLoop", "CQoSShims",
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ]
        ),

        // Virtual time, a deterministic executor and timelines, for tests of what runs on the runtime.
        .target(name: "QoSTesting", dependencies: ["QoSCore", "QoSKernel", "QoSRuntime"]),

        // Operations and their queues.
        .target(name: "QoSOperations", dependencies: ["QoSRuntime", "QoSCore", "QoSKernel"]),

        // Files whose I/O follows the class of the work.
        .target(name: "QoSFiles", dependencies: ["QoSRuntime", "QoSCore", "QoSKernel"]),

        // Requests and messages between processes, which carry level, deadline and context.
        .target(
            name: "QoSMessages",
            dependencies: [
                "QoSRuntime", "QoSCore", "QoSKernel", "QoSEventLoop",
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ]
        ),
        // Durable background work: items, schedules, leases, stores and hosts.
        .target(
            name: "QoSWorkloads",
            dependencies: [
                "QoSRuntime", "QoSCore", "QoSKernel",
                .product(name: "HeapModule", package: "swift-collections"),
            ]
        ),

        // The one call of SQLite that Swift cannot import.
        .systemLibrary(
            name: "CSQLiteSettings", path: "Sources/C/CSQLiteSettings", providers: [.apt(["libsqlite3-dev"])]),
        // A durable store of workloads in SQLite; empty without the trait.
        .target(
            name: "QoSSQLiteStore",
            dependencies: [
                "QoSWorkloads", "QoSRuntime", "QoSCore", "QoSKernel",
                .target(name: "CSQLiteSettings", condition: .when(traits: ["SQLite"])),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
            ],
            path: "Sources/Stores/QoSSQLiteStore"
        ),

        // Checks for stores of workloads; hosts in virtual time.
        .target(
            name: "QoSWorkloadsTesting",
            dependencies: ["QoSWorkloads", "QoSTesting", "QoSRuntime", "QoSCore", "QoSKernel"]
        ),

        // Hosts of workloads in a ServiceGroup. Empty without its trait.
        .target(
            name: "QoSServiceLifecycle",
            dependencies: [
                "QoSWorkloads",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            path: "Sources/Integrations/QoSServiceLifecycle"
        ),

        // Logs and metrics of workloads. Empty without its trait.
        .target(
            name: "QoSObservability",
            dependencies: [
                "QoSWorkloads", "QoSCore",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Observability"])),
            ],
            path: "Sources/Integrations/QoSObservability"
        ),

        // Conversions for code that speaks Foundation's and Dispatch's words; apart, so that the core needs neither.
        .target(name: "QoSFoundation", dependencies: ["QoSCore"], path: "Sources/Integrations/QoSFoundation"),

        .executableTarget(
            name: "qosctl",
            dependencies: [
                "QoSCore", "QoSKernel", "QoSEventLoop", "QoSRuntime",
                .target(name: "QoSSQLiteStore", condition: .when(traits: ["SQLite"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // Scheduling calls that fail by script, for the tests of every module that schedules threads.
        .target(
            name: "QoSKernelTestSupport",
            dependencies: ["QoSKernel"],
            path: "Tests/Support/QoSKernelTestSupport"
        ),

        // What tests of everything that runs on schedulers share.
        .target(
            name: "QoSRuntimeTestSupport",
            dependencies: ["QoSRuntime", "QoSKernel", "QoSKernelTestSupport"],
            path: "Tests/Support/QoSRuntimeTestSupport"
        ),

        // Folders with files that tests of several modules make.
        .target(name: "QoSFileTestSupport", path: "Tests/Support/QoSFileTestSupport"),

        // Programs as processes of their own, for the tests of several modules.
        .target(
            name: "QoSProcessTestSupport",
            dependencies: ["QoSKernel", "QoSKernelTestSupport"],
            path: "Tests/Support/QoSProcessTestSupport"
        ),

        // Models of admission under loads, for the tests of its rules.
        .target(
            name: "QoSSimulation", dependencies: ["QoSCore", "QoSTesting"], path: "Tests/Support/QoSSimulation"),

        .testTarget(name: "QoSCoreTests", dependencies: ["QoSCore", "QoSKernel", "QoSTesting", "QoSSimulation"]),
        .testTarget(
            name: "QoSTestingTests",
            dependencies: [
                "QoSTesting", "QoSSimulation", "QoSCore", "QoSRuntime", "QoSKernel", "QoSRuntimeTestSupport",
                "QoSProcessTestSupport",
            ]
        ),
        // Takes rights away from a thread, so that one privileged run shows what an unprivileged process sees; makes threads and processes
        // in the ways of C and C++.
        .target(name: "CQoSTestSupport", path: "Tests/Support/CQoSTestSupport"),

        .testTarget(
            name: "QoSKernelTests",
            dependencies: [
                "QoSKernel", "QoSKernelTestSupport", "QoSFileTestSupport", "QoSCore", "QoSTesting", "CQoSShims",
                "CQoSTestSupport",
            ]
        ),
        .testTarget(name: "QoSEventLoopTests", dependencies: ["QoSEventLoop", "QoSFileTestSupport"]),
        .testTarget(
            name: "QoSControlTests",
            dependencies: [
                "qosctl", "QoSCore", "QoSKernel", "QoSRuntime", "QoSFileTestSupport", "QoSKernelTestSupport",
            ]),
        .testTarget(name: "QoSFoundationTests", dependencies: ["QoSFoundation", "QoSCore"]),
        // Programs on the process-wide runtime, for tests that look at a process from outside.
        .executableTarget(
            name: "QoSProcessTestDriver",
            dependencies: [
                "QoSOperations", "QoSRuntime", "QoSCore", "QoSKernel", "QoSTesting", "QoSKernelTestSupport",
                "QoSRuntimeTestSupport", "CQoSTestSupport",
            ],
            path: "Tests/Support/QoSProcessTestDriver"
        ),
        // Random operations on several schedulers at once, with a watchdog; `Scripts/stress` runs it.
        .executableTarget(
            name: "QoSStress",
            dependencies: [
                "QoSOperations", "QoSRuntime", "QoSCore", "QoSKernel", "QoSTesting", "QoSRuntimeTestSupport",
            ],
            path: "Tests/Support/QoSStress"
        ),
        // The same scenarios on Foundation and Dispatch, and on ours: a table for `Docs/ComingFromDispatchAndFoundation.md`.
        .executableTarget(
            name: "QoSPlatformFacts",
            dependencies: ["QoSOperations", "QoSRuntime", "QoSCore", "QoSKernel"],
            path: "Tests/Support/QoSPlatformFacts"
        ),
        .testTarget(
            name: "QoSRuntimeTests",
            dependencies: [
                "QoSRuntime", "QoSCore", "QoSKernel", "QoSEventLoop", "QoSTesting", "QoSKernelTestSupport",
                "QoSRuntimeTestSupport", "QoSFileTestSupport", "QoSProcessTestSupport", "CQoSTestSupport",
                "QoSProcessTestDriver", "QoSStress",
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ]
        ),
        .testTarget(
            name: "QoSWorkloadsTests",
            dependencies: [
                "QoSWorkloads", "QoSWorkloadsTesting", "QoSTesting", "QoSRuntime", "QoSCore", "QoSKernel",
                "QoSFileTestSupport", "QoSRuntimeTestSupport",
            ]
        ),
        // Hosts of a workload that ignores its cancellation, for tests of signals. Empty without the trait.
        .executableTarget(
            name: "QoSWorkloadTestDriver",
            dependencies: [
                "QoSServiceLifecycle", "QoSWorkloads", "QoSRuntime", "QoSCore",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
            ],
            path: "Tests/Support/QoSWorkloadTestDriver"
        ),
        // They test nothing without their traits.
        .testTarget(
            name: "QoSServiceLifecycleTests",
            dependencies: [
                "QoSServiceLifecycle", "QoSWorkloads", "QoSWorkloadsTesting", "QoSRuntime", "QoSCore",
                "QoSProcessTestSupport", "QoSWorkloadTestDriver",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
            ]
        ),
        .testTarget(
            name: "QoSObservabilityTests",
            dependencies: [
                "QoSObservability", "QoSWorkloads", "QoSWorkloadsTesting", "QoSTesting", "QoSRuntime", "QoSCore",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Observability"])),
            ]
        ),
        // Processes on one store of workloads that are killed; `Scripts/kills` runs it.
        .executableTarget(
            name: "QoSStoreKills",
            dependencies: ["QoSSQLiteStore", "QoSWorkloads", "QoSRuntime", "QoSCore", "QoSKernel"],
            path: "Tests/Support/QoSStoreKills"
        ),
        // Empty without the trait.
        .testTarget(
            name: "QoSSQLiteStoreTests",
            dependencies: [
                "QoSSQLiteStore", "QoSWorkloads", "QoSWorkloadsTesting", "QoSTesting", "QoSRuntime", "QoSCore",
                "QoSKernel",
                "QoSFileTestSupport", "QoSProcessTestSupport", "QoSStoreKills", "qosctl",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
            ]
        ),
        .testTarget(
            name: "QoSOperationsTests",
            dependencies: [
                "QoSOperations", "QoSRuntime", "QoSCore", "QoSKernel", "QoSRuntimeTestSupport",
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ]
        ),
        // Services and clients as processes of their own. One of them dies at a named step.
        .executableTarget(
            name: "QoSMessagesTestDriver",
            dependencies: ["QoSMessages", "QoSRuntime", "QoSCore", "QoSKernel"],
            path: "Tests/Support/QoSMessagesTestDriver"
        ),
        .testTarget(
            name: "QoSMessagesTests",
            dependencies: [
                "QoSMessages", "QoSRuntime", "QoSCore", "QoSKernel", "QoSTesting", "QoSRuntimeTestSupport",
                "QoSFileTestSupport", "QoSProcessTestSupport", "QoSMessagesTestDriver",
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ]
        ),
        .testTarget(
            name: "QoSFilesTests",
            dependencies: [
                "QoSFiles", "QoSRuntime", "QoSCore", "QoSKernel", "QoSRuntimeTestSupport", "QoSFileTestSupport",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// Targets in C have no Swift settings.
let targetsInC: Set = ["CQoSShims", "CQoSGuests", "CQoSTestSupport"]
for target in package.targets
where ![.system, .binary, .plugin].contains(target.type) && !targetsInC.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
