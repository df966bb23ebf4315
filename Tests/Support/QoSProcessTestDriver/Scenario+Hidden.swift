import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport

// Tasks whose record does not show a raise.

extension Scenario {
    /// A child of the background that runs when its root is awaited or raised.
    func runningChildren() async {
        guard let scheduler = QoSProcess.scheduler else { return }
        for child in RunningChild.allCases {
            for urgency in Urgency.allCases {
                for origin in Origin.allCases {
                    let isRaised = await child.isRaised(urgency, origin, on: scheduler, isProcessWide: true)
                    Driver.say("\(child).\(urgency).\(origin)", isRaised)
                }
            }
        }
    }
}
