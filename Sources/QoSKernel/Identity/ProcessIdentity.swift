/// The exact identity of a process on this machine. No other process has the same one, also after the number was given
/// to a new process, or the machine was started again.
///
/// The text of ``description`` can be stored, and read again by ``init(_:)``.
package struct ProcessIdentity: Sendable, Hashable {
    /// The world in which a number and a start time have a meaning.
    package struct World: Sendable, Hashable {
        /// The start of the machine: `boot_id` (random(4)).
        package let boot: String
        /// The number of the processes' namespace (pid_namespaces(7)).
        package let processes: UInt64
        /// The number of the clocks' namespace (time_namespaces(7)), which shifts start times; 0 on a kernel without it.
        package let clocks: UInt64

        package init(boot: String, processes: UInt64, clocks: UInt64) {
            (self.boot, self.processes, self.clocks) = (boot, processes, clocks)
        }
    }

    /// Its world.
    package let world: World
    /// The number of the process (a `pid_t`).
    package let number: Int32
    /// The time of its start, in clock ticks since the start of the machine.
    package let start: UInt64

    package init(world: World, number: Int32, start: UInt64) {
        (self.world, self.number, self.start) = (world, number, start)
    }
}

extension ProcessIdentity: LosslessStringConvertible {
    /// `linux:BOOT:PROCESSES:CLOCKS:NUMBER:START`.
    package var description: String {
        "linux:\(world.boot):\(world.processes):\(world.clocks):\(number):\(start)"
    }

    /// Reads the text of an identity; `nil` for any other text.
    package init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "linux", !parts[1].isEmpty, let processes = UInt64(parts[2]),
            let clocks = UInt64(parts[3]), let number = Int32(parts[4]), number > 0, let start = UInt64(parts[5])
        else { return nil }
        self.init(
            world: World(boot: String(parts[1]), processes: processes, clocks: clocks), number: number, start: start)
    }
}
