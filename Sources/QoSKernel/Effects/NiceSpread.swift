/// The spread of an unprivileged process's classes over the nice values.
///
/// Nice weighs threads within one control group or autogroup. Among the process's own threads only, the spread can
/// be wide; where others share the group, every step down is a step behind them.
package enum NiceSpread: String, Sendable, Hashable, CaseIterable {
    /// The process has a control group or autogroup to itself.
    case own
    /// Other processes share the group, or may do so. The classes stay close to the process's first nice value.
    case polite
}
