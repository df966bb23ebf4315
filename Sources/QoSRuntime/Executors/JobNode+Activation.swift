extension JobNode {
    /// Runs what the node stands for, which is no Swift job, on the calling worker, or on a thread that is none when the
    /// scheduler is closed.
    func runActivation(on worker: UnsafeMutablePointer<Worker>?) {
        if tag.isLane {
            unsafe LaneActivation(node: self).run(on: worker)
        } else {
            unsafe WorkEntry.take(from: self).reached(worker)
        }
    }
}
