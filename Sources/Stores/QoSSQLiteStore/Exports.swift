#if SQLite
// A store is given to a host: one import gives both.
@_exported public import QoSWorkloads
#endif
