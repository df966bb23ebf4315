/// What one try of a passphrase costs: the parameters of scrypt (RFC 7914) that a repository chooses, with r = 8.
///
/// Memory: 1 KiB for each round. Time: that of all rounds of all passes.
public struct PassphraseCost: Sendable, Hashable {
    /// The rounds that a repository may ask for.
    static let allowed = 2...(1 << 20)

    /// N of the RFC: a power of two.
    let rounds: Int
    /// p of the RFC. The passes use the same memory, one after the other.
    let passes: Int

    /// 32,768 rounds in three passes: 32 MiB. OWASP's Password Storage Cheat Sheet lists them among equal choices.
    public static let standard = PassphraseCost(rounds: 1 << 15, passes: 3)

    /// 16 rounds, for tests. It protects nothing.
    public static let none = PassphraseCost(rounds: 16, passes: 1)
}
