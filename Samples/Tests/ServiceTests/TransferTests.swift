import Testing

@testable import qos_service

@Suite("Answers that are files")
struct TransferTests {
    @Test(
        "a download may take longer than an answer, from the folder and from a snapshot",
        arguments: [
            ("/files?path=a", true), ("/files", true), ("/snapshots/file?snapshot=latest&path=a", true),
            ("/snapshots/files?snapshot=latest", false), ("/search?q=/files", false), ("/", false),
        ])
    func tellsTransfers(path: String, isTransfer: Bool) {
        #expect(ConnectionGuard.isTransfer(path) == isTransfer)
        #expect(!ConnectionGuard.isTransfer(nil))
    }
}
