import Glibc
import QoSKernel

/// The rights of this process, found by trying on a throw-away thread, for traits of tests.
enum Privilege {
    /// Whether nice may go below zero, as with CAP_SYS_NICE.
    static let nice: Bool = {
        let result = try? onThread { () -> Bool in
            (try? LinuxSchedulingCalls().setNice(-12, of: .current)) != nil
        }
        return result ?? false
    }()

    /// Whether a sibling's timer slack may be set: this is asked of the capability alone.
    static let siblings: Bool = {
        let calls = LinuxSchedulingCalls()
        let owner = ThreadID.current
        let result = try? onThread { () -> Bool in
            (try? calls.timerSlack(of: owner)) != nil
        }
        return result ?? false
    }()

    /// Whether the limit on nice can be raised, as with CAP_SYS_RESOURCE.
    static let niceLimit: Bool = {
        var before = rlimit()
        guard unsafe getrlimit(niceResource, &before) == 0 else { return false }
        guard before.rlim_max < 40 else { return true }
        var higher = rlimit(rlim_cur: before.rlim_cur, rlim_max: 40)
        return unsafe setrlimit(niceResource, &higher) == 0
    }()

    /// RLIMIT_NICE (getrlimit(2)).
    static let niceResource = __rlimit_resource_t(13)
}
