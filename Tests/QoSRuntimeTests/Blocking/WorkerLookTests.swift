import Testing

@testable import QoSRuntime

@Suite("What the loop sees of a worker")
struct WorkerLookTests {
    @Test("a worker that does not run in the same job stands still, and begins to only once")
    func standsStill() {
        var look = WorkerLook()
        #expect(look.looked(step: 3, used: { 100 }, now: 0, limit: 1000) == .init())
        #expect(look.looked(step: 3, used: { 150 }, now: 10, limit: 1000) == .init())
        #expect(
            look.looked(step: 3, used: { 150 }, now: 20, limit: 1000)
                == .init(stoodStill: true, beganToStandStill: true))
        #expect(look.looked(step: 3, used: { 150 }, now: 30, limit: 1000) == .init(stoodStill: true))
        #expect(look.looked(step: 3, used: { 151 }, now: 40, limit: 1000) == .init())
        #expect(
            look.looked(step: 3, used: { 151 }, now: 50, limit: 1000)
                == .init(stoodStill: true, beganToStandStill: true))
    }

    @Test("a long standstill is told once, and again after the thread has run")
    func long() {
        var look = WorkerLook()
        let long = WorkerLook.longDeadlockedSet
        _ = look.looked(step: 1, used: { 5 }, now: 0, limit: .max)
        #expect(look.looked(step: 1, used: { 5 }, now: 10, limit: .max).beganToStandStill)
        #expect(!look.looked(step: 1, used: { 5 }, now: long, limit: .max).stoodStillForLong)
        #expect(look.looked(step: 1, used: { 5 }, now: long + 10, limit: .max).stoodStillForLong)
        #expect(!look.looked(step: 1, used: { 5 }, now: long + 20, limit: .max).stoodStillForLong)
        _ = look.looked(step: 1, used: { 6 }, now: long + 30, limit: .max)
        #expect(!look.looked(step: 1, used: { 6 }, now: long + 40, limit: .max).stoodStillForLong)
        #expect(look.looked(step: 1, used: { 6 }, now: 2 * long + 40, limit: .max).stoodStillForLong)
    }

    @Test("the next job begins afresh")
    func nextJob() {
        var look = WorkerLook()
        _ = look.looked(step: 3, used: { 100 }, now: 0, limit: 1000)
        #expect(look.looked(step: 4, used: { 100 }, now: 10, limit: 1000) == .init())
        #expect(look.looked(step: 4, used: { nil }, now: 20, limit: 1000) == .init())
    }

    @Test("a job that takes too long is told once, with the time since it was first seen")
    func stalled() {
        var look = WorkerLook()
        _ = look.looked(step: 1, used: { 1 }, now: 500, limit: 1000)
        #expect(look.looked(step: 1, used: { 2 }, now: 1499, limit: 1000).stalledFor == nil)
        #expect(look.looked(step: 1, used: { 3 }, now: 1600, limit: 1000).stalledFor == 1100)
        #expect(look.looked(step: 1, used: { 4 }, now: 9999, limit: 1000).stalledFor == nil)
        _ = look.looked(step: 2, used: { 5 }, now: 10_000, limit: 1000)
        #expect(look.looked(step: 2, used: { 6 }, now: 12_000, limit: 1000).stalledFor == 2000)
    }
}
