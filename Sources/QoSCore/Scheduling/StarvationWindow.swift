/// The time for which one core is left to a class that was kept off the cores for too long.
///
/// At most one is under way at a time, so the higher classes never lose more than one core to starving ones.
package enum StarvationWindow: Sendable, Hashable {
    /// No class is starving.
    case closed
    /// The class is due; the higher workers that cover the last core have not reached a job boundary yet.
    case wanted(QoSClass)
    /// A core is left to the class until an instant.
    case open(QoSClass, until: SchedulerInstant)

    /// The class that the window is for.
    package var qosClass: QoSClass? {
        switch self {
        case .closed: nil
        case .wanted(let qosClass), .open(let qosClass, _): qosClass
        }
    }
}
