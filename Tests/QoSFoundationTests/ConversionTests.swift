import Dispatch
import Foundation
import QoSCore
import QoSFoundation
import Testing

@Suite("Conversions to and from Foundation and Dispatch")
struct ConversionTests {
    @Test(
        "C5 Foundation's values convert both ways, by case",
        arguments: [
            (QualityOfService.userInteractive, QoSClass.userInteractive),
            (.userInitiated, .userInitiated), (.default, .default), (.utility, .utility), (.background, .background),
        ])
    func foundation(quality: QualityOfService, qosClass: QoSClass) {
        #expect(QoSClass(quality) == qosClass)
        #expect(QualityOfService(qosClass) == quality)
    }

    @Test(
        "C5 Dispatch's classes convert both ways",
        arguments: [
            (DispatchQoS.QoSClass.userInteractive, QoSClass.userInteractive),
            (.userInitiated, .userInitiated), (.default, .default), (.utility, .utility), (.background, .background),
        ])
    func dispatch(dispatchClass: DispatchQoS.QoSClass, qosClass: QoSClass) {
        #expect(QoSClass(dispatchClass) == qosClass)
        #expect(qosClass.dispatchClass == dispatchClass)
    }

    @Test("C1 Dispatch's unspecified is the absence of information")
    func unspecified() throws {
        #expect(QoSClass(DispatchQoS.QoSClass.unspecified) == nil)
        #expect(try QoSLevel(DispatchQoS.unspecified) == nil)
    }

    @Test("a relative priority survives the way to Dispatch and back", arguments: -15...0)
    func relativePriority(value: Int) throws {
        let level = try QoSLevel(.utility, relativePriority: value)
        #expect(level.dispatchQoS.relativePriority == value)
        #expect(try QoSLevel(level.dispatchQoS) == level)
    }

    @Test("a relative priority that Dispatch let through is refused with the accepted range")
    func outOfRange() {
        let qos = DispatchQoS(qosClass: .utility, relativePriority: -16)
        #expect(throws: QoSValueError.relativePriorityOutOfRange(-16)) { try QoSLevel(qos) }
    }
}
