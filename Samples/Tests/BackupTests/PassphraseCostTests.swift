import Testing

@testable import Backup

@Suite("The cost of a passphrase")
struct PassphraseCostTests {
    private static let master: [UInt8] = Array(0..<32)
    private static let passphrase = Array("correct horse".utf8)

    @Test(
        "a header has the parameters of its key, and opens with them and the passphrase only",
        arguments: [PassphraseCost.none, PassphraseCost(rounds: 32, passes: 3)])
    func opens(cost: PassphraseCost) throws {
        let made = try RepositoryHeader(master: Self.master, passphrase: Self.passphrase, cost: cost)
        #expect((made.n, made.r, made.p) == (cost.rounds, 8, cost.passes))
        var read = try RepositoryHeader(file: made.file(), path: "repository")
        #expect(try read.master(passphrase: Self.passphrase) == Self.master)
        #expect(try read.master(passphrase: Array("correct house".utf8)) == nil)
        read.p += 1
        #expect(try read.master(passphrase: Self.passphrase) == nil)
    }

    @Test("a new repository asks for 32 MiB and 98,304 rounds in all")
    func standard() {
        #expect(PassphraseCost.standard == PassphraseCost(rounds: 1 << 15, passes: 3))
    }
}
