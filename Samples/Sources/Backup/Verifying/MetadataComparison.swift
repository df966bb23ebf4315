internal import SafeFiles
internal import TreeScan

/// Compares all that an entry has beside its content.
struct MetadataComparison {
    let path: RelativePath
    let saved: TreeNode
    let found: TreeNode

    /// The differences. A link has no permission bits of its own; only files and folders have attributes.
    var differences: [Difference] {
        var differences: [Difference] = []
        func note(_ aspect: Difference.Aspect, _ detail: String) {
            differences.append(Difference(path: path, aspect: aspect, detail: detail))
        }
        if !isLink, found.mode != saved.mode {
            note(.mode, "its mode is \(octal(found.mode)), and was \(octal(saved.mode))")
        }
        if found.owner != saved.owner { note(.owner, "its owner is \(found.owner), and was \(saved.owner)") }
        if found.group != saved.group { note(.group, "its group is \(found.group), and was \(saved.group)") }
        if found.modified != saved.modified {
            let texts = [found.modified, saved.modified].map { FileTime.text($0, hasFraction: true) }
            note(.time, "its time is \(texts[0]), and was \(texts[1])")
        }
        if found.attributes != saved.attributes {
            note(.attributes, "its extended attributes differ: \(attributes.joined(separator: ", "))")
        }
        return differences
    }

    private var isLink: Bool {
        if case .link = saved.content { true } else { false }
    }

    /// The names of attributes that are in one only, or have two values.
    private var attributes: [String] {
        let all = Set(found.attributes).symmetricDifference(saved.attributes)
        return Set(all.map { RelativePath(bytes: $0.name).display }).sorted()
    }

    private func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
