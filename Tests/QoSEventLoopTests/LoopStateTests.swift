import Testing

@testable import QoSEventLoop

@Suite("The state of a loop")
struct LoopStateTests {
    /// An event, and whether it must be accepted.
    enum Event: Sendable {
        case run(Bool)
        case stop(Bool)
        case submit(Bool)
        case wake(bodies: Int, ends: Bool)
        case closing
        case closed
    }

    static let courses: [[Event]] = [
        [.run(true), .run(false), .submit(true), .wake(bodies: 1, ends: false), .run(false)],
        [.submit(true), .stop(true), .stop(false), .submit(true), .run(true), .wake(bodies: 2, ends: true)],
        [
            .run(true), .stop(true), .submit(true), .wake(bodies: 1, ends: true), .submit(false), .stop(false),
            .run(false),
        ],
        [
            .run(true), .stop(true), .wake(bodies: 0, ends: true), .closing, .wake(bodies: 0, ends: false),
            .submit(false), .stop(false), .run(false), .closed, .submit(false), .stop(false), .run(false),
        ],
        [.run(true), .wake(bodies: 0, ends: false), .stop(true), .stop(false), .wake(bodies: 0, ends: true)],
    ]

    @Test("runs once, stops once, takes bodies until the last ones were taken", arguments: courses)
    func transitions(course: [Event]) {
        var state = LoopState()
        for (step, event) in course.enumerated() {
            switch event {
            case .run(let accepted): #expect(state.runCalled() == accepted, "step \(step)")
            case .stop(let accepted): #expect(state.stopCalled() == accepted, "step \(step)")
            case .submit(let accepted): #expect(state.submitted {} == accepted, "step \(step)")
            case .wake(let bodies, let ends):
                let batch = state.wokeUp()
                #expect(batch.bodies.count == bodies, "step \(step)")
                #expect(batch.endsLoop == ends, "step \(step)")
            case .closing: state.closingBegan()
            case .closed: state.closed()
            }
        }
    }

    @Test("handles may be made until the last bodies ran, and are closed once")
    func handles() {
        var state = LoopState()
        #expect(state.acceptsHandles && state.needsClosing)
        #expect(state.runCalled() && state.stopCalled())
        #expect(state.wokeUp().endsLoop)
        #expect(state.acceptsHandles)
        state.closingBegan()
        #expect(!state.acceptsHandles && state.needsClosing)
        state.closed()
        #expect(!state.acceptsHandles && !state.needsClosing)
    }
}
