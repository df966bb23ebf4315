import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("An object that lives as long as the process")
struct ImmortalObjectTests {
    private final class Plain: Sendable {
        private let freed: Tally

        init(freed: Tally) { self.freed = freed }

        deinit { freed.add() }
    }

    /// Refers to the object: LeakSanitizer reports an object that is never freed and cannot be reached.
    private static let immortal = Collected<Plain>()

    /// The word of an object in which its references are counted: the second one (`HeapObject.h` of the Swift
    /// toolchain).
    private func references(to object: Unmanaged<Plain>) -> UInt64 {
        // SAFETY: every object begins with its metadata and this word, and the object is alive.
        unsafe object.toOpaque().load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt64.self)
    }

    @Test("is not counted: more references or fewer change nothing in it, and do not free it")
    func notCounted() {
        let freed = Tally()
        let object = unsafe Unmanaged.passRetained(Plain(freed: freed))
        let counted = unsafe references(to: object)
        _ = unsafe object.retain()
        #expect(unsafe references(to: object) != counted, "before, it is")
        unsafe object.release()

        unsafe Self.immortal.append(object.takeUnretainedValue())
        unsafe ConcurrencyRuntime.makeImmortal(object.takeUnretainedValue())
        let before = unsafe references(to: object)
        _ = unsafe object.retain()
        #expect(unsafe references(to: object) == before)
        for _ in 0..<10 { unsafe object.release() }
        #expect(unsafe references(to: object) == before)
        #expect(freed.value == 0)
    }
}
