// The checks name stores, items and clocks: one import gives these modules, too.
@_exported public import QoSTesting
@_exported public import QoSWorkloads
