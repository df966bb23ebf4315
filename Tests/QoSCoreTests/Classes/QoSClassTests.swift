import Foundation
import QoSCore
import Testing

@Suite("Classes")
struct QoSClassTests {
    @Test("C1 the classes are ordered from user-interactive down to background")
    func order() {
        #expect(QoSClass.allCases.sorted(by: >) == QoSClass.descending)
        #expect(QoSClass.descending.first == .userInteractive)
        #expect(QoSClass.descending.last == .background)
        for (higher, lower) in zip(QoSClass.descending, QoSClass.descending.dropFirst()) {
            #expect(higher > lower)
        }
    }

    @Test("C1 ranks are the positions in the order, and nothing else is a rank")
    func ranks() {
        #expect(QoSClass.descending.reversed().map(\.rank) == [0, 1, 2, 3, 4])
        for qosClass in QoSClass.allCases { #expect(QoSClass(rank: qosClass.rank) == qosClass) }
        #expect(QoSClass(rank: -1) == nil)
        #expect(QoSClass(rank: 5) == nil)
    }

    @Test(
        "C4 raw values are those of the Swift priorities",
        arguments: [
            (QoSClass.userInteractive, UInt8(33)), (.userInitiated, 25), (.default, 21), (.utility, 17),
            (.background, 9),
        ])
    func rawValues(qosClass: QoSClass, rawValue: UInt8) {
        #expect(qosClass.rawValue == rawValue)
        #expect(qosClass.taskPriority == TaskPriority(rawValue: rawValue))
        #expect(TaskPriority(qosClass).rawValue == rawValue)
        #expect(QoSClass(qosClass.taskPriority) == qosClass)
    }

    @Test(
        "C4 named task priorities",
        arguments: [
            (TaskPriority.userInteractive, QoSClass.userInteractive), (.high, .userInitiated),
            (.userInitiated, .userInitiated), (.medium, .default), (.low, .utility), (.utility, .utility),
            (.background, .background),
        ])
    func namedPriorities(priority: TaskPriority, qosClass: QoSClass) {
        #expect(QoSClass(priority) == qosClass)
    }

    @Test("C4 any other raw value maps to the highest class that is not above it", arguments: UInt8.min...UInt8.max)
    func otherRawValues(raw: UInt8) {
        let expected: QoSClass? =
            raw == 0
            ? nil
            : QoSClass.allCases.filter { $0.rawValue <= raw }.max() ?? .background
        #expect(QoSClass(rawPriority: raw) == expected)
    }

    @Test("C5 legacy queue priorities convert both ways", arguments: LegacyQueuePriority.allCases)
    func legacy(priority: LegacyQueuePriority) {
        let expected: [LegacyQueuePriority: QoSClass] = [
            .main: .userInteractive, .high: .userInitiated, .default: .default, .low: .utility,
            .background: .background,
        ]
        #expect(priority.qosClass == expected[priority])
        #expect(LegacyQueuePriority(priority.qosClass) == priority)
    }

    @Test("abbreviations are two letters and differ")
    func abbreviations() {
        #expect(Set(QoSClass.allCases.map(\.abbreviation)).count == 5)
        #expect(QoSClass.allCases.allSatisfy { $0.abbreviation.count == 2 })
    }

    @Test("the text form is read back", arguments: QoSClass.allCases)
    func text(qosClass: QoSClass) throws {
        #expect(QoSClass("\(qosClass)") == qosClass)
        #expect(try QoSClass(parsing: "\(qosClass)") == qosClass)
        let data = try JSONEncoder().encode([qosClass])
        #expect(String(decoding: data, as: UTF8.self) == "[\"\(qosClass)\"]")
        #expect(try JSONDecoder().decode([QoSClass].self, from: data) == [qosClass])
    }

    @Test(
        "a name that is no class is refused with the names that are", arguments: ["", "Utility", "high", "unspecified"])
    func unknownName(name: String) throws {
        #expect(QoSClass(name) == nil)
        let error = #expect(throws: QoSValueError.unknownClass(name)) { try QoSClass(parsing: name) }
        for qosClass in QoSClass.allCases { #expect(error?.description.contains("\(qosClass)") == true) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([QoSClass].self, from: Data("[\"\(name)\"]".utf8))
        }
    }
}
