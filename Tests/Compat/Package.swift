// swift-tools-version: 6.2
import PackageDescription

// A library that, loaded into any program before all others, makes that program's main run inside of `QoSProcess.run`.
// `Scripts/compat` loads it into the test programs of other packages.
let package = Package(
    name: "qos-compat",
    products: [.library(name: "QoSCompat", type: .dynamic, targets: ["QoSCompat"])],
    dependencies: [.package(name: "swift-qos", path: "../..")],
    targets: [
        // Comes between the C library's start and the program's main.
        .target(name: "CCompat"),
        .target(
            name: "QoSCompat",
            dependencies: [
                "CCompat", .product(name: "QoSRuntime", package: "swift-qos"),
                .product(name: "QoSCore", package: "swift-qos"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
