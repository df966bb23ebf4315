import CQoSShims
package import QoSCore

/// Runs `body`. Each time that the calling task is raised meanwhile, `raised` gets `object` and the new level.
///
/// A raise from before the call is lost: look at the task's level within `body`.
///
/// The handler runs on the raising or looking thread, at the same time as `body` or just after it. It must not wait for
/// the task. The
/// concurrency library's own list of handlers orders the creation of `object` before it. ThreadSanitizer does not see
/// that list, so the function tells it here.
nonisolated(nonsending) package func withRaiseHandler<Object: AnyObject & Sendable, Success, Failure: Error>(
    for object: Object,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Success,
    raised: @escaping @Sendable (Object, QoSLevel) -> Void
) async throws(Failure) -> Success {
    // SAFETY: the addresses are names for the sanitizer; nothing is read through them.
    unsafe cqos_tsan_release(Unmanaged.passUnretained(object).toOpaque())
    let hidden = levelOfHiddenRaises.flatMap { HiddenWaits.begin(at: $0) { raised(object, $0) } }
    defer { if let hidden { HiddenWaits.end(hidden) } }
    return try await withTaskPriorityEscalationHandler(
        operation: body,
        onPriorityEscalated: { _, priority in
            unsafe cqos_tsan_acquire(Unmanaged.passUnretained(object).toOpaque())
            guard let qosClass = QoSClass(rawPriority: priority.rawValue) else { return }
            raised(object, QoSLevel(qosClass))
        })
}

/// The level of the calling task if a raise of that task may stay hidden: it is lower than the task's record. `nil` for
/// nearly all.
private var levelOfHiddenRaises: QoSLevel? {
    guard ConcurrencyRuntime.seesWaiters, let recorded = LevelScope.recordedClass, let level = QoS.currentLevel
    else { return nil }
    return level.qosClass < recorded ? level : nil
}
