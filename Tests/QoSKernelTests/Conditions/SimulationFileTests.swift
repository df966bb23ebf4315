import Foundation
import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import Testing

@Suite("The file of simulated states")
struct SimulationFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("qos-simulation")
    }

    @Test("S1 S4 each line is a state; the last of one condition counts")
    func reads() throws {
        try folder.write("states", "# heat\nthermal=fair\n\n thermal = serious \nio=severe")
        let found = SimulationFile.read(folder["states"])
        #expect(found.states.thermal == .serious && found.states.pressure == [.io: .severe] && found.problem == nil)
    }

    @Test("S1 a missing file simulates nothing, and is no problem")
    func missing() {
        let found = SimulationFile.read(folder["states"])
        #expect(found.states == ConditionOverrides() && found.problem == nil)
    }

    @Test("S1 a line that is no state is named, and the others count")
    func garbage() throws {
        try folder.write("states", "thermal=hot\nio=severe\nx")
        let found = SimulationFile.read(folder["states"])
        #expect(found.states.pressure == [.io: .severe])
        #expect(found.problem?.contains("line 1 of \(folder["states"])") == true, "\(found.problem ?? "")")
    }

    @Test("S1 a pipe, a directory and bytes that are no text are named, and do not block")
    func noFile() throws {
        #expect(unsafe mkfifo(folder["pipe"], 0o600) == 0)
        try FileManager.default.createDirectory(atPath: folder["folder"], withIntermediateDirectories: false)
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: folder["bytes"]))
        for name in ["pipe", "folder", "bytes"] {
            let found = SimulationFile.read(folder[name])
            #expect(found.states == ConditionOverrides() && found.problem?.contains(folder[name]) == true, "\(name)")
        }
    }

    @Test("S1 what is written is read; without states the file is gone, once and again")
    func writes() throws {
        let path = folder["states"]
        try SimulationFile.write(["thermal=critical", "low-power=on"], to: path)
        let found = SimulationFile.read(path).states
        #expect(found.thermal == .critical && found.power?.isLowPowerMode == true)
        try SimulationFile.write(["memory=severe"], to: path)
        #expect(SimulationFile.read(path).states.thermal == nil)
        for _ in 0..<2 { try SimulationFile.write([], to: path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("S1 a folder that is missing, or in the place of the file, is an error with a remedy, and leaves nothing")
    func refused() throws {
        try FileManager.default.createDirectory(atPath: folder["taken"], withIntermediateDirectories: false)
        for name in ["missing/states", "taken"] {
            let error = #expect(throws: KernelError.self) { try SimulationFile.write(["io=severe"], to: folder[name]) }
            #expect(error.map { "\($0)".contains(folder[name]) } == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["taken"])
    }
}
