import Testing

extension Tag {
    /// Tries every interleaving of a protocol's steps.
    @Tag static var exploration: Self
    /// Many threads, many tasks, seeded.
    @Tag static var stress: Self
    /// Starts processes of its own.
    @Tag static var process: Self
    /// Takes longer than a second.
    @Tag static var slow: Self
}
