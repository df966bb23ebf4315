/// The pressure on one resource (the kernel's `Documentation/accounting/psi.rst`).
package struct Pressure: Sendable, Hashable {
    /// Time in which at least one thread stood still.
    package let some: PressureLevel
    /// Time in which all threads stood still that had work; `nil` where the kernel does not count it (CPU, before
    /// Linux 5.13; at the machine's level it is zero there).
    package let full: PressureLevel?
}
