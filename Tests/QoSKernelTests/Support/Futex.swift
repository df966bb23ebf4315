import CQoSShims

/// Wakes one thread that sleeps on a futex word, without changing the word.
func wakeFutex(_ word: UnsafeMutableRawPointer) {
    unsafe cqos_futex_wake(word.assumingMemoryBound(to: UInt32.self), 1)
}
