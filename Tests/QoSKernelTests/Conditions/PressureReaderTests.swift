import Glibc
import QoSFileTestSupport
import QoSKernel
import Testing

@Suite("The pressure reader")
struct PressureReaderTests {
    @Test("S4 reads both lines, every average and the total")
    func reads() throws {
        let tree = try MadeTree([
            "/proc/pressure/io": """
            some avg10=12.34 avg60=5.60 avg300=0.07 total=123456789012
            full avg10=1.00 avg60=0.50 avg300=0.00 total=7

            """
        ])
        let pressure = try PressureReader(root: tree.root).read(.io)
        #expect(pressure.some.average10 == 12.34)
        #expect(pressure.some.average60 == 5.6)
        #expect(pressure.some.average300 == 0.07)
        #expect(pressure.some.total == 123_456_789_012)
        #expect(pressure.full?.average10 == 1)
        #expect(pressure.full?.total == 7)
    }

    @Test("S4 reads a file without the full line, and with unknown keys")
    func readsWithoutFull() throws {
        let tree = try MadeTree([
            "/proc/pressure/cpu": "some total=9 avg10=0.00 avg60=0.00 avg300=100.00 avg3600=1\n"
        ])
        let pressure = try PressureReader(root: tree.root).read(.cpu)
        #expect(pressure.some.average300 == 100)
        #expect(pressure.full == nil)
    }

    @Test("S4 a pipe in the place of a file does not block", .timeLimit(.minutes(1)))
    func pipe() throws {
        let folder = try TemporaryFolder("qos-pressure")
        try folder.write("proc/pressure/cpu")
        #expect(unsafe mkfifo(folder["proc/pressure/io"], 0o600) == 0)
        #expect(throws: KernelError.self) { try PressureReader(root: FileRoot(folder.path)).read(.io) }
    }

    @Test(
        "S4 refuses what is no pressure file",
        arguments: [
            "", "\n", "garbage", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0",
            "some avg10=0.00 avg60=0.00 avg300=0.00", "some avg10=x avg60=0 avg300=0 total=0",
            "some avg10=0 avg60=0 avg300=101 total=0", "some avg10=nan avg60=0 avg300=0 total=0",
            "some avg10=0 avg60=0 avg300=0 total=-1", "some avg10 avg60=0 avg300=0 total=0",
            "some avg10=0 avg60=0 avg300=0 total=99999999999999999999", "\u{0}\u{fffd}",
        ])
    func refusesGarbage(text: String) throws {
        let tree = try MadeTree(["/proc/pressure/memory": text])
        let failure = #expect(throws: KernelError.self) { try PressureReader(root: tree.root).read(.memory) }
        #expect(failure?.code == EBADMSG)
        #expect(failure?.subject.hasSuffix("/proc/pressure/memory") == true)
    }

    @Test("S4 says that the kernel has none", arguments: PressureReader.Resource.allCases)
    func missing(resource: PressureReader.Resource) throws {
        let tree = try MadeTree(["/proc/version": "x"])
        let failure = #expect(throws: KernelError.self) { try PressureReader(root: tree.root).read(resource) }
        #expect(failure?.code == ENOENT)
    }

    @Test("S4 reads the machine's own, where there is one", .tags(.kernel), arguments: PressureReader.Resource.allCases)
    func readsTheMachine(resource: PressureReader.Resource) throws {
        do throws(KernelError) {
            let first = try PressureReader().read(resource)
            let second = try PressureReader().read(resource)
            #expect(second.some.total >= first.some.total)
        } catch {
            #expect([ENOENT, EOPNOTSUPP].contains(error.code), "\(error)")
        }
    }
}
