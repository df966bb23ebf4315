/// What one try of a passphrase costs, in scrypt's rounds (RFC 7914). A fast try needs 1 KiB for each round. This program
/// keeps half of that, and computes the rest again.
public struct PassphraseCost: Sendable, Hashable {
    /// The rounds that a repository may ask for.
    static let allowed = 2...(1 << 20)

    let rounds: Int

    /// 65,536 rounds: 64 MiB for a fast try. This program takes 32 MiB and 0.1 to 0.2 s.
    public static let standard = PassphraseCost(rounds: 1 << 16)

    /// 16 rounds, for tests. It protects nothing.
    public static let none = PassphraseCost(rounds: 16)
}
