internal import ArgumentParser

/// A share as an argument: `50%` or `50`.
package struct Percent: ExpressibleByArgument {
    /// The share, from 0 to 100.
    package let value: Int

    /// Makes a share.
    package init(value: Int) {
        self.value = value
    }

    /// Reads an argument; nil if it is no share.
    package init?(argument: String) {
        let digits = argument.hasSuffix("%") ? String(argument.dropLast()) : argument
        guard let value = Int(digits), (0...100).contains(value) else { return nil }
        self.value = value
    }

    /// The share as help texts show it.
    package var defaultValueDescription: String { "\(value)%" }
}
