internal import Foundation

/// The calling thread's name, as tools show it.
package func threadName() -> String {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines) ?? "a thread"
}
