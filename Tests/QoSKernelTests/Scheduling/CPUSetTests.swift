import QoSKernel
import Testing

@testable import QoSKernel

@Suite("A set of processors")
struct CPUSetTests {
    @Test(
        "lists its members, ascending, however high",
        arguments: [
            ([], [], ""),
            ([0], [0], "0"),
            ([3, 1, 2, 3], [1, 2, 3], "1-3"),
            ([63, 64], [63, 64], "63-64"),
            ([0, 2, 1023, 1024, 4095], [0, 2, 1023, 1024, 4095], "0,2,1023-1024,4095"),
            ([-1, 5], [5], "5"),
        ])
    func lists(ids: [Int], members: [Int], text: String) {
        let set = CPUSet(ids)
        #expect(set.ids == members)
        #expect(set.count == members.count)
        #expect(set.isEmpty == members.isEmpty)
        #expect(set.description == text)
        #expect(members.allSatisfy(set.contains))
        #expect(!set.contains(-1) && !set.contains(4096) && !set.contains(100_000))
    }

    @Test("is equal whatever size of mask it was read into")
    func equalAcrossMasks() {
        #expect(CPUSet(words: [3, 0, 0]) == CPUSet([0, 1]))
        #expect(CPUSet(words: [0, 0]).isEmpty)
    }

    @Test("is read by masks that start too short", arguments: [0, 1, 16, 1024])
    func growsTheMask(firstWords: Int) throws {
        let calls = LinuxSchedulingCalls()
        let read = try calls.affinity(of: .current, firstWords: firstWords)
        #expect(read == (try calls.affinity(of: .current)))
        #expect(!read.isEmpty)
    }

    @Test("beyond 1024 processors reaches the kernel whole: those that exist are taken", .tags(.kernel))
    func setsBeyond1024() throws {
        let calls = LinuxSchedulingCalls()
        try onIdleThread { thread in
            let before = try calls.affinity(of: thread)
            try calls.setAffinity(CPUSet([before.ids[0], 5000]), of: thread)
            #expect(try calls.affinity(of: thread) == CPUSet([before.ids[0]]))
            try calls.setAffinity(before, of: thread)
            #expect(try calls.affinity(of: thread) == before)
        }
    }
}
