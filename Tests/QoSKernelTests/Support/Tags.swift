import Testing

extension Tag {
    /// Asks the kernel, and so depends on the machine.
    @Tag static var kernel: Self
    /// Takes longer than a second under a sanitizer.
    @Tag static var slow: Self
}
