import Testing

extension Tag {
    /// Runs many seeded worlds in virtual time.
    @Tag static var simulation: Self
}
