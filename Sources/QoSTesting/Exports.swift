// The module's declarations name classes and levels: one import gives both modules.
@_exported public import QoSCore
