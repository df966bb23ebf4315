/// The waiters of a lock in the order in which they get it, as a value: the highest level first, then the first to
/// come. One turn in sixteen goes to the longest waiter (``HandOverShare``).
///
/// A waiter whose level changes keeps its time of arrival. Arrivals of one level form a list. A waiter with a changed
/// level moves to a heap beside the lists. A further list has all waiters in the order of their arrival.
///
/// - Complexity: O(1) for waiters with an unchanged level, O(log n) for the n others.
package struct WaitLine: Sendable {
    private struct Place {
        var token: UInt
        let arrival: UInt64
        /// The neighbours in the list of the level. `next` also links the free places.
        var previous = Int32(-1)
        var next = Int32(-1)
        /// The neighbours in the list of all waiters.
        var older = Int32(-1)
        var younger = Int32(-1)
        /// The index in the heap; −1 for a place in a list.
        var heapIndex = Int32(-1)
        /// Behind the words, so that a place takes 40 bytes.
        var level: LevelCode

        init(token: UInt, level: LevelCode, arrival: UInt64, older: Int32) {
            (self.token, self.level, self.arrival, self.older) = (token, level, arrival, older)
        }
    }

    private struct List {
        var head = Int32(-1)
        var tail = Int32(-1)
    }

    private var places: [Place] = []
    private var free = Int32(-1)
    private var arrivals: UInt64 = 0
    /// One list for each level, made for the first waiter.
    private var lists: [List] = []
    /// The lists with waiters, as bits.
    private var occupied: (UInt64, UInt64) = (0, 0)
    /// The places whose level has changed, the first to go at the top.
    private var heap: [Int32] = []
    /// The ends of the list of all waiters.
    private var oldest = Int32(-1)
    private var youngest = Int32(-1)
    private var share = HandOverShare()

    /// The number of waiters.
    package private(set) var count = 0

    /// Makes an empty line.
    package init() {}

    /// The level of the highest waiter; none without waiters.
    package var highest: LevelCode { first.map { places[Int($0)].level } ?? .none }

    /// Returns the token of the waiter at a place.
    package func token(at place: Int) -> UInt { places[place].token }

    // MARK: Changes

    /// Adds a waiter.
    ///
    /// - Parameter token: the value that ``removeFirst()`` returns.
    /// - Returns: the waiter's place, until it leaves.
    package mutating func add(_ token: UInt, at level: LevelCode) -> Int {
        if lists.isEmpty { lists = Array(repeating: List(), count: LevelCode.count) }
        arrivals += 1
        let place = Place(token: token, level: level, arrival: arrivals, older: youngest)
        let index: Int32
        if free >= 0 {
            index = free
            free = places[Int(index)].next
            places[Int(index)] = place
        } else {
            index = Int32(places.count)
            places.append(place)
        }
        append(index)
        if youngest >= 0 { places[Int(youngest)].younger = index } else { oldest = index }
        youngest = index
        count += 1
        return Int(index)
    }

    /// Removes the next waiter, for a hand-over; `nil` without waiters.
    package mutating func removeFirst() -> UInt? {
        guard let first else { return nil }
        let next = share.goesToLongest(passesOver: first != oldest) ? oldest : first
        let token = places[Int(next)].token
        remove(at: Int(next))
        return token
    }

    /// Removes the waiter at a place.
    package mutating func remove(at place: Int) {
        takeOut(Int32(place))
        let (older, younger) = (places[place].older, places[place].younger)
        if older >= 0 { places[Int(older)].younger = younger } else { oldest = younger }
        if younger >= 0 { places[Int(younger)].older = older } else { youngest = older }
        count -= 1
        if count == 0 {
            places.removeAll(keepingCapacity: places.count <= 1024)
            heap.removeAll(keepingCapacity: heap.capacity <= 1024)
            free = -1
        } else {
            places[place].next = free
            free = Int32(place)
        }
    }

    /// Changes the level of a waiter.
    package mutating func changeLevel(at place: Int, to level: LevelCode) {
        guard places[place].level != level else { return }
        takeOut(Int32(place))
        places[place].level = level
        heap.append(Int32(place))
        places[place].heapIndex = Int32(heap.count - 1)
        moveUp(from: heap.count - 1)
    }

    // MARK: Lists and heap

    private var first: Int32? {
        var list = Int32(-1)
        if occupied.1 != 0 {
            list = lists[127 - occupied.1.leadingZeroBitCount].head
        } else if occupied.0 != 0 {
            list = lists[63 - occupied.0.leadingZeroBitCount].head
        }
        guard let changed = heap.first else { return list < 0 ? nil : list }
        return list >= 0 && goesBefore(list, changed) ? list : changed
    }

    private func goesBefore(_ left: Int32, _ right: Int32) -> Bool {
        let (left, right) = (places[Int(left)], places[Int(right)])
        return left.level == right.level ? left.arrival < right.arrival : left.level > right.level
    }

    private mutating func append(_ place: Int32) {
        let level = Int(places[Int(place)].level.rawValue)
        let tail = lists[level].tail
        places[Int(place)].previous = tail
        if tail >= 0 {
            places[Int(tail)].next = place
        } else {
            lists[level].head = place
            if level < 64 { occupied.0 |= 1 << UInt64(level) } else { occupied.1 |= 1 << UInt64(level - 64) }
        }
        lists[level].tail = place
    }

    private mutating func takeOut(_ place: Int32) {
        let found = places[Int(place)]
        guard found.heapIndex < 0 else { return takeOutOfHeap(place, at: Int(found.heapIndex)) }
        let level = Int(found.level.rawValue)
        if found.previous >= 0 {
            places[Int(found.previous)].next = found.next
        } else {
            lists[level].head = found.next
        }
        if found.next >= 0 {
            places[Int(found.next)].previous = found.previous
        } else {
            lists[level].tail = found.previous
        }
        (places[Int(place)].previous, places[Int(place)].next) = (-1, -1)
        guard lists[level].head < 0 else { return }
        if level < 64 { occupied.0 &= ~(1 << UInt64(level)) } else { occupied.1 &= ~(1 << UInt64(level - 64)) }
    }

    private mutating func takeOutOfHeap(_ place: Int32, at index: Int) {
        places[Int(place)].heapIndex = -1
        let last = heap.removeLast()
        guard index < heap.count else { return }
        heap[index] = last
        places[Int(last)].heapIndex = Int32(index)
        moveUp(from: index)
        moveDown(from: Int(places[Int(last)].heapIndex))
    }

    private mutating func moveUp(from start: Int) {
        var index = start
        while index > 0, goesBefore(heap[index], heap[(index - 1) / 2]) {
            exchange(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func moveDown(from start: Int) {
        var index = start
        while true {
            var first = index
            var child = 2 * index + 1
            while child < min(2 * index + 3, heap.count) {
                if goesBefore(heap[child], heap[first]) { first = child }
                child += 1
            }
            if first == index { return }
            exchange(index, first)
            index = first
        }
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        places[Int(heap[left])].heapIndex = Int32(left)
        places[Int(heap[right])].heapIndex = Int32(right)
    }
}
