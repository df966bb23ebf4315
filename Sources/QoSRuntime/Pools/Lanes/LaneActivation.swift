import QoSCore

/// The entry of a serial lane in a pool's queue: one for each class, laid out like a job (see ``JobNode``).
///
/// The first two words hold the lane and the rank. The next two are the links.
///
/// Threading: in a queue at most once, as ``LaneWord`` says. The activation retains the lane while it is queued, so the
/// lane outlives it.
@safe
struct LaneActivation {
    static let size = 4 * MemoryLayout<UInt>.size

    private let words: UnsafeMutablePointer<UInt>

    var node: JobNode { unsafe JobNode(address: UInt(bitPattern: words)) }

    init(node: JobNode) {
        // SAFETY: the node's tag says that it is an activation.
        unsafe words = UnsafeMutablePointer(bitPattern: node.address).unsafelyUnwrapped
    }

    init(words: UnsafeMutablePointer<UInt>) {
        unsafe self.words = words
    }

    var rank: Int { unsafe Int(bitPattern: words[1]) }

    /// The lane; only while the activation is queued.
    var lane: SerialLane {
        // SAFETY: `submit` retained the lane for this activation.
        unsafe Unmanaged<SerialLane>.fromOpaque(UnsafeRawPointer(bitPattern: words[0]).unsafelyUnwrapped)
            .takeUnretainedValue()
    }

    /// Gives the activation to the pool of its class. It keeps the lane alive until it has run.
    func submit(for lane: SerialLane, rank: Int, to group: PoolGroup) {
        unsafe words[0] = UInt(bitPattern: Unmanaged.passRetained(lane).toOpaque())
        unsafe words[1] = UInt(bitPattern: rank)
        node.prepare(.lane)
        group.pools[rank].submit(node)
    }

    /// Runs the lane's items on the calling worker, or on a thread that is no worker when the scheduler is closed.
    func run(on worker: WorkerRef?) {
        let rank = self.rank
        // SAFETY: `submit` retained the lane for this activation.
        let lane = unsafe Unmanaged<SerialLane>.fromOpaque(
            UnsafeRawPointer(bitPattern: words[0]).unsafelyUnwrapped
        ).takeRetainedValue()
        guard let worker else { return lane.activationReached(rank: rank, mayMove: false) }
        worker.value.lane.entered(lane)
        lane.activationReached(rank: rank, mayMove: true)
        worker.value.lane.left()
    }
}

extension JobNode {
    /// Runs the work of a node that is no Swift job. On the calling worker; on a thread that is no worker when the
    /// scheduler is closed.
    func runActivation(on worker: WorkerRef?) {
        if tag.isLane {
            LaneActivation(node: self).run(on: worker)
        } else {
            // Without a thread in some class, a serial queue's items of that class run wherever their turn comes. So do
            // all items under a clamp.
            let isPlaced = worker.map { $0.group.threadless.isEmpty && !$0.group.clamp.isOn } ?? false
            PoolEntry.take(from: self).reached(inPoolOf: isPlaced ? worker?.qosClass.rank : nil)
        }
    }
}
