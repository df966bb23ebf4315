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

func example(_ name: String, _ more: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "ExampleSupport",
            .product(name: "QoSCore", package: "swift-qos"),
            .product(name: "QoSRuntime", package: "swift-qos"),
        ] + more,
        path: "Sources/Examples/\(name)"
    )
}

let package = Package(
    name: "swift-qos-samples",
    products: [
        .library(name: "TreeScan", targets: ["TreeScan"]),
        .library(name: "Indexing", targets: ["Indexing"]),
        .library(name: "Chunking", targets: ["Chunking"]),
        .library(name: "Backup", targets: ["Backup"]),
        .executable(name: "qos-backup", targets: ["qos-backup"]),
        .library(name: "Sync", targets: ["Sync"]),
        .executable(name: "qos-sync", targets: ["qos-sync"]),
        .executable(name: "qos-index", targets: ["qos-index"]),
        .executable(name: "qos-service", targets: ["qos-service"]),
    ],
    dependencies: [
        .package(name: "swift-qos", path: "..", traits: ["ServiceLifecycle", "Observability", "SQLite"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        // For a test of what its children inherit.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // The walk of a folder, shared by the samples.
        .target(name: "TreeScan", dependencies: ["SafeFiles"]),

        // The index: text extraction, the database, the pass in steps, the search.
        .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
        .target(
            name: "Indexing",
            dependencies: [
                "CStemmer", "SafeFiles", "TreeScan",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),

        // Content-defined chunks, without a key or a file of its own.
        .target(name: "Chunking"),

        // Safe reads, writes and times of files, for backup and sync.
        .target(name: "SafeFiles", dependencies: ["CFileSystem"]),

        // The backup: the repository's format, the runs that write and read it, and the workload.
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CFileSystem"),
        .target(
            name: "Backup",
            dependencies: [
                "Chunking", "TreeScan", "SafeFiles", "CZstd", "CFileSystem",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
            ]
        ),
        // The process of a command, its output and its exit status.
        .target(
            name: "SampleCommand",
            dependencies: [
                "SafeFiles",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "qos-backup",
            dependencies: [
                "Backup", "CFileSystem", "SafeFiles", "SampleCommand", "TreeScan",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // Watches of folders, and looks after their changes.
        .target(
            name: "FolderWatching",
            dependencies: [
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
            ]
        ),

        // The sync of two folders: reconcile as a value, the archive, the runs, and the workload.
        .target(
            name: "Sync",
            dependencies: [
                "Chunking", "TreeScan", "SafeFiles", "CFileSystem",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
            ]
        ),
        // The way to a folder of another machine: the agent, its client and their messages.
        .target(
            name: "SyncAgent",
            dependencies: [
                "Sync", "SafeFiles", "TreeScan",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "qos-sync",
            dependencies: [
                "FolderWatching", "Sync", "SyncAgent", "SampleCommand", "TreeScan",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // The command on the index of several folders.
        .executableTarget(
            name: "qos-index",
            dependencies: [
                "FolderWatching", "Indexing", "SampleCommand", "TreeScan",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // The process that hosts the samples and answers requests.
        .executableTarget(
            name: "qos-service",
            dependencies: [
                "FolderWatching", "Indexing", "Backup", "Sync", "SyncAgent", "SafeFiles", "SampleCommand", "TreeScan",
                "CFileSystem",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
                .product(name: "QoSSQLiteStore", package: "swift-qos"),
                .product(name: "QoSObservability", package: "swift-qos"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                "CZlib",
            ],
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/base.js"), .embedInCode("Page/page.css"),
                .embedInCode("Page/page.js"),
                .embedInCode("Page/live.css"), .embedInCode("Page/live.js"),
                .embedInCode("Page/home.css"), .embedInCode("Page/home.js"), .embedInCode("Page/token.html"),
            ]
        ),

        // What searches take beside background work, and what that work costs beside other programs.
        .executableTarget(
            name: "service-bench",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            resources: [.embedInCode("Costs/oracle.py")]
        ),

        // The three ways into the runtime, one program each; Docs/GettingStarted.md shows them.
        .target(name: "ExampleSupport", path: "Sources/Examples/ExampleSupport"),
        example("example-process"),
        example("example-preference"),
        example("example-actor"),
        // The README's block on queues, operations and locks.
        example("example-operations", [.product(name: "QoSOperations", package: "swift-qos")]),

        // The service of Docs/Tutorial.md. The page quotes it.
        .executableTarget(
            name: "notes",
            dependencies: [
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
                .product(name: "QoSServiceLifecycle", package: "swift-qos"),
                .product(name: "QoSSQLiteStore", package: "swift-qos"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Tutorial"
        ),

        // Made trees and seeded worlds for the tests.
        .target(
            name: "SampleTestSupport",
            dependencies: ["Indexing", "CFileSystem", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/SampleTestSupport"
        ),

        .testTarget(name: "TreeScanTests", dependencies: ["SafeFiles", "TreeScan", "SampleTestSupport"]),
        .testTarget(name: "ChunkingTests", dependencies: ["Chunking", "SampleTestSupport"]),
        .testTarget(
            name: "BackupTests",
            dependencies: [
                "Backup", "CFileSystem", "SafeFiles", "TreeScan", "qos-backup", "SampleTestSupport",
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
            ],
            exclude: ["decode.py"]
        ),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Sync", "SyncAgent", "SafeFiles", "TreeScan", "qos-sync", "SampleTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSWorkloads", package: "swift-qos"),
            ]
        ),
        .testTarget(
            name: "IndexingTests",
            dependencies: [
                "Indexing", "TreeScan", "qos-index", "SampleTestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "qos-service", "qos-sync", "Backup", "Indexing", "Sync", "TreeScan", "SampleTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSCore", package: "swift-qos"), .product(name: "QoSWorkloads", package: "swift-qos"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]
        ),
        // The first use of real libraries, as a process of its own.
        .executableTarget(
            name: "library-guests",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            path: "Tests/LibraryGuests"
        ),
        .testTarget(name: "LibraryGuestsTests", dependencies: ["library-guests"]),
        .testTarget(name: "ServiceBenchTests", dependencies: ["service-bench"]),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "notes",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "QoSWorkloadsTesting", package: "swift-qos"),
            ],
            path: "Tests/TutorialTests"
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// The tutorial is built as a reader builds it: with the settings of a new package.
let tutorial: Set = ["notes", "NotesTests"]
for target in package.targets where target.type != .system && !tutorial.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
