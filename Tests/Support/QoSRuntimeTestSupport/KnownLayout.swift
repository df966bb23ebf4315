internal import QoSRuntime
package import Testing

extension Trait where Self == ConditionTrait {
    /// For tests of what only a known layout of the concurrency library's jobs grants: see
    /// `Docs/Inside/ConcurrencyLibrary.md`.
    package static var needsKnownLayout: Self {
        .enabled("the private layout of the concurrency library is taken for unknown: QOS_LIBRARY_LAYOUT") {
            ConcurrencyRuntime.hasExpectedLayout && ConcurrencyRuntime.seesRunningTasks
        }
    }
}
