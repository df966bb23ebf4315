import QoSKernel
import Testing

@Suite("A thread's name")
struct ThreadNameTests {
    @Test(
        "is cut to 15 bytes, at a NUL, and never inside of a character",
        arguments: [
            ("", ""),
            ("qos-ui-0", "qos-ui-0"),
            ("123456789012345", "123456789012345"),
            ("1234567890123456", "123456789012345"),
            ("12345678901234\u{e4}", "12345678901234"),
            ("1234567890123\u{e4}x", "1234567890123\u{e4}"),
            ("ab\0cd", "ab"),
        ])
    func isCut(asked: String, kept: String) {
        #expect(ThreadName(asked).text == kept)
    }
}
