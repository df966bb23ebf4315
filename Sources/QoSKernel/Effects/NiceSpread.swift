/// How far the classes of an unprivileged process are spread over the nice values.
///
/// Nice weighs threads within one control group or autogroup. Among the process's own threads only, the spread can
/// be wide; where others share the group, every step down is a step behind them.
package enum NiceSpread: String, Sendable, Hashable, CaseIterable {
    /// The process has a control group or autogroup to itself.
    case own
    /// Others share the group, or nobody knows: the classes stay close to where the process began.
    case polite
}
