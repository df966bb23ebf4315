import Glibc
import QoSFileTestSupport
import QoSKernel
import Testing

@Suite("The pressure trigger")
struct PressureTriggerTests {
    @Test("S4 asks in the kernel's words, with microseconds and an end")
    func writes() throws {
        let folder = try TemporaryFolder("qos-trigger")
        try folder.write("proc/pressure/memory")
        let trigger = try PressureTrigger(
            .memory, stall: .milliseconds(150), window: .seconds(2), root: FileRoot(folder.path))
        #expect(trigger.descriptor >= 0)
        #expect(try folder.read("proc/pressure/memory") == "some 150000 2000000\0")
    }

    @Test("S4 says that the kernel has none")
    func missing() throws {
        let tree = try MadeTree(["/proc/version": "x"])
        let failure = #expect(throws: KernelError.self) {
            _ = try PressureTrigger(.io, stall: .seconds(1), root: tree.root)
        }
        #expect(failure?.code == ENOENT && failure?.call == .setPressureTrigger)
    }

    @Test("S4 the kernel takes a window of two seconds, and says what is wrong with another", .tags(.kernel))
    func asksTheKernel() throws {
        do throws(KernelError) {
            let trigger = try PressureTrigger(.io, stall: .milliseconds(500), window: .seconds(2))
            var watched = pollfd(fd: trigger.descriptor, events: Int16(POLLPRI), revents: 0)
            #expect(unsafe poll(&watched, 1, 0) >= 0)
            #expect(watched.revents & Int16(POLLERR | POLLNVAL) == 0)
        } catch {
            #expect([ENOENT, EOPNOTSUPP, EACCES, EPERM, EINVAL].contains(error.code), "\(error)")
        }
        let failure = #expect(throws: KernelError.self) {
            _ = try PressureTrigger(.io, stall: .seconds(50), window: .seconds(60))
        }
        #expect([ENOENT, EOPNOTSUPP, EACCES, EPERM, EINVAL].contains(failure?.code), "\(failure as Any)")
    }
}
