import Foundation
import QoSCore
import Testing

@Suite("Levels")
struct QoSLevelTests {
    @Test("levels are ordered by class first and by relative priority second")
    func order() throws {
        let lowUtility = try QoSLevel(.utility, relativePriority: -15)
        #expect(lowUtility < .utility)
        #expect(lowUtility > .background)
        #expect(QoSLevel.userInteractive > QoSLevel.userInitiated)
    }

    @Test("a raise never lowers")
    func raise() throws {
        let low = try QoSLevel(.utility, relativePriority: -3)
        #expect(low.raised(to: .utility) == .utility)
        #expect(QoSLevel.utility.raised(to: low) == .utility)
        #expect(low.raised(to: nil) == low)
    }

    @Test("relative priorities outside of -15 to 0 are refused", arguments: [-16, 1, .min, .max])
    func outOfRange(value: Int) throws {
        let error = #expect(throws: QoSValueError.relativePriorityOutOfRange(value)) { try RelativePriority(value) }
        #expect(error?.description.contains("-15") == true)
        #expect(throws: QoSValueError.self) { try QoSLevel(.utility, relativePriority: value) }
        #expect(RelativePriority.range.contains(RelativePriority(clamping: value).rawValue))
    }

    @Test("the text form of every level is read back", arguments: QoSClass.allCases)
    func text(qosClass: QoSClass) throws {
        for value in RelativePriority.range {
            let level = try QoSLevel(qosClass, relativePriority: value)
            #expect(QoSLevel("\(level)") == level)
            let data = try JSONEncoder().encode([level])
            #expect(try JSONDecoder().decode([QoSLevel].self, from: data) == [level])
        }
        #expect("\(QoSLevel(qosClass))" == "\(qosClass)")
    }

    @Test(
        "a text that is no level is refused with what would be",
        arguments: ["utility-", "utility--3", "utility-16", "utility+3", "utility-+3", "fast", "-3", "utility-3 "])
    func malformed(text: String) {
        #expect(QoSLevel(text) == nil)
        #expect(throws: QoSValueError.self) { try QoSLevel(parsing: text) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([QoSLevel].self, from: Data("[\"\(text)\"]".utf8))
        }
    }
}
