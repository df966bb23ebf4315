extension BaseOperation {
    /// The progress of the operation.
    public var progress: OperationProgress {
        OperationDomain.shared.look { _ in
            if let progress = record.progress { return progress }
            var isFinished = false
            if case .finished = record.phase { isFinished = true }
            let progress = OperationProgress(isFinished: isFinished)
            record.progress = progress
            return progress
        }
    }
}
