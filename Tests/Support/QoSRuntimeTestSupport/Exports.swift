// Tests of schedulers use the gate, too.
@_exported public import QoSKernelTestSupport
