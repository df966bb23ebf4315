import Glibc

/// How many processors the machine has on line.
func activeProcessorCount() -> Int {
    max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
