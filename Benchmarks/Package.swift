// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors where the whole tree is checked (`.ci/run` sets the variable).
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
    name: "swift-qos-benchmarks",
    dependencies: [
        .package(name: "swift-qos", path: "..", traits: ["SQLite"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    ],
    targets: [
        // Clocks, measured work, the C floors, the costs of single system calls.
        .target(name: "CBenchShims"),

        // Replaces malloc in the program that links it, to count allocations; apart for that reason.
        .target(name: "CAllocationCounter"),

        // The system's SQLite, as something with a lock inside that nobody declared.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // What is measured and how it is judged: pure values, shared by runner and peer. No Foundation: the peer
        // must not load what it does not measure.
        .target(name: "BenchCore"),

        // Starts the peers in turns, judges, prints.
        .executableTarget(
            name: "qos-bench",
            dependencies: [
                "BenchCore", "CBenchShims",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // One measured process: one executor, one case.
        .executableTarget(
            name: "qos-bench-peer",
            dependencies: [
                "BenchCore", "CBenchShims", "CAllocationCounter", "CSQLite",
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "QoSCore", package: "swift-qos"),
                .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSOperations", package: "swift-qos"),
                .product(name: "QoSFiles", package: "swift-qos"),
            ]
        ),

        // Rates of stores of workloads, beside a plain loop on the database library.
        .executableTarget(
            name: "qos-bench-store",
            dependencies: [
                .product(name: "QoSSQLiteStore", package: "swift-qos"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),

        // The same cases of operations on Foundation's OperationQueue.
        .executableTarget(name: "qos-bench-foundation", dependencies: ["BenchCore", "CBenchShims"]),

        .testTarget(name: "BenchCoreTests", dependencies: ["BenchCore"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !target.name.hasPrefix("C") {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
