internal import QoSKernel

#if canImport(Testing)
internal import Testing
#endif

// What this module says to Swift Testing. With another test library, and without one, nothing of it has an effect.

/// The issues of the calling test.
enum TestIssues {
    /// Records a failure of the calling test.
    static func record(_ text: String) {
        #if canImport(Testing)
        Issue.record(Comment(rawValue: text))
        #endif
    }

    /// Runs a body, and gives each issue that it records the comment. A thrown error gets a line with the comment on
    /// standard error, because the test's own code may expect the error.
    static func commenting(
        _ comment: String, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        #if canImport(Testing)
        guard let test = Test.current else { return try await body() }
        let trait: IssueHandlingTrait = .compactMapIssues { issue in
            var issue = issue
            issue.comments.append(Comment(rawValue: comment))
            return issue
        }
        try await trait.provideScope(for: test, testCase: Test.Case.current) {
            do {
                try await body()
            } catch {
                // Swift Testing shows no issue of ours beside an error that the test throws.
                StandardError.write("note: \(test.name) threw \(error): \(comment)")
                throw error
            }
        }
        #else
        try await body()
        #endif
    }
}
