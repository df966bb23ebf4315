/// A table of values in memory that threads share and that does not move. A wrong index traps.
///
/// Its owner fills it before the first use, and frees it after the last. All copies refer to the same values.
///
/// Threading: as ``UnsafeShared``.
// SAFETY: the owner keeps the memory for longer than any thread uses the table, and every index is checked.
@safe
struct UnsafeSharedTable<Element: ~Copyable>: @unchecked Sendable {
    let count: Int
    private let elements: UnsafeMutablePointer<Element>

    /// Makes the room for a number of values.
    init(count: Int) {
        self.count = count
        unsafe elements = .allocate(capacity: count)
    }

    /// Makes the values in order. Once, before the first use.
    ///
    /// - Parameter make: gets the index of a value, and the reference to its place.
    func fill(_ make: (_ index: Int, _ place: UnsafeShared<Element>) -> Element) {
        for index in 0..<count { unsafe (elements + index).initialize(to: make(index, at(index))) }
    }

    /// Ends the values and gives back the memory. Once, after the last use.
    func free() {
        unsafe elements.deinitialize(count: count)
        unsafe elements.deallocate()
    }

    /// The value at an index, in place.
    subscript(index: Int) -> Element {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address(of: index)) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe address(of: index) }
    }

    /// Returns the reference to the value at an index.
    @inline(__always)
    func at(_ index: Int) -> UnsafeShared<Element> { unsafe UnsafeShared(address(of: index)) }

    /// Returns whether a reference is one to a value of the table.
    @inline(__always)
    func contains(_ reference: UnsafeShared<Element>) -> Bool {
        unsafe reference.address >= elements && reference.address < elements + count
    }

    @inline(__always)
    private func address(of index: Int) -> UnsafeMutablePointer<Element> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "the table has no such index")
        return unsafe elements + index
    }
}

extension UnsafeSharedTable: Equatable where Element: ~Copyable {
    /// Whether both are the same table.
    @inline(__always)
    static func == (one: UnsafeSharedTable, other: UnsafeSharedTable) -> Bool { unsafe one.elements == other.elements }

    var indices: Range<Int> { 0..<count }
}
