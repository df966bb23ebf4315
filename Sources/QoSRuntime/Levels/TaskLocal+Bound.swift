extension TaskLocal {
    /// Runs a body with the value bound, like `withValue`, but with the body's type of error.
    func bound<Success, Failure: Error>(
        to value: Value, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let outcome: Result<Success, Failure> = withValue(value) {
            do throws(Failure) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Runs an async body with the value bound, like `withValue`, but with the body's type of error.
    nonisolated(nonsending) func bound<Success, Failure: Error>(
        to value: Value, _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let outcome: Result<Success, Failure> = await withValue(value) {
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}
