internal import QoSWorkloads

/// Makes the store of the service's workloads.
enum WorkloadStoreFactory {
    /// Returns the store in the index's folder.
    static func store(in directory: String) throws -> any WorkloadStore {
        InMemoryWorkloadStore()
    }
}
