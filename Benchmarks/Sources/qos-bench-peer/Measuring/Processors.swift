import Glibc

/// Returns the number of processors on line.
func activeProcessorCount() -> Int {
    max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
