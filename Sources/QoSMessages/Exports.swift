// Requests follow the classes of the runtime's schedulers: one import gives both modules, and the core.
@_exported public import QoSRuntime
