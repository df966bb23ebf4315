import Foundation
import Testing

@testable import service_bench

@Suite("Tables and pictures of searches beside work")
struct InterferenceTests {
    private func result(_ neighbour: Neighbour, _ turn: Int, p99: Double, seconds: Double? = nil) -> InterferenceResult
    {
        InterferenceResult(
            neighbour: neighbour.rawValue, turn: turn, rate: 190, searches: 3000, p50: 3, p99: p99, p999: 30,
            seconds: seconds, parts: seconds.map { [WorkPart.backup.rawValue: $0 / 2] })
    }

    @Test("the medians count the turns of each neighbour, and compare a p99 only with its own turn's")
    func medians() throws {
        let table = InterferenceTable([
            result(.none, 0, p99: 10), result(.none, 1, p99: 20), result(.ours, 0, p99: 15, seconds: 8),
            result(.ours, 1, p99: 20, seconds: 6), result(.ours, 2, p99: 90, seconds: 7),
        ])
        let rows = table.medians.split(separator: "\n").map(String.init)
        #expect(rows.count == 4)
        #expect(rows[2].hasPrefix("| none | 2 |"))
        #expect(rows[3].hasPrefix("| ours | 3 | 3.00 [3.00…3.00] | 20.00 [15.00…90.00] |"))
        #expect(rows[3].contains("| 1.25 [1.00…1.50] | 7.00 [6.00…8.00] | 3.50 [3.00…4.00] | – | – |"))
    }

    @Test("the picture says how many turns each neighbour had")
    func turns() {
        let equal = [result(.none, 0, p99: 10), result(.ours, 0, p99: 12, seconds: 8)]
        #expect(InterferencePicture(equal).svg.contains("Medians of 1 turns"))
        let more = equal + [result(.none, 1, p99: 10)]
        #expect(InterferencePicture(more).svg.contains("Medians of 2, 1 turns"))
    }

    @Test("a bar that is far longer than the others is cut, and has its number")
    func cut() throws {
        let usual = [
            result(.none, 0, p99: 10), result(.ours, 0, p99: 12, seconds: 8), result(.nice, 0, p99: 14, seconds: 9),
        ]
        #expect(!InterferencePicture(usual).svg.contains("stroke=\"#fff\""))
        let picture = InterferencePicture(usual + [result(.session, 0, p99: 480, seconds: 9)]).svg
        #expect(picture.contains("stroke=\"#fff\""))
        #expect(picture.contains(">480 ms<"))
    }

    @Test("lines without the times of the parts can be read")
    func olderLines() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let line = #"{"neighbour":"none","turn":0,"rate":190,"searches":10,"p50":3,"p99":13,"p999":20}"#
        try Data("\(line)\n\(line)\n".utf8).write(to: file)
        let results = try InterferenceResult.read(file.path)
        #expect(results.map(\.p99) == [13, 13])
        #expect(results[0].parts == nil)
    }
}
