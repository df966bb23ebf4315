import QoSCore
import QoSKernel
import Testing

@Suite("What the README says of the kernel")
struct ReadmeTests {
    @Test("the nice values of its picture are those of the mode and the scope that it names")
    func niceValues() throws {
        let text = try SourceTree.text(of: "README.md")
        let picture = text.matches(of: /qos-[a-z]{2} +──▶ +nice (−?[0-9]+)/)
        let shown = picture.compactMap { Int($0.output.1.replacing("−", with: "-")) }
        let effects = QoSClass.descending.map { ClassEffects($0, mode: .privileged, spread: .own) }
        #expect(shown == effects.map(\.scheduling.nice))
        #expect(text.contains("nice values are those of a privileged process in a scheduling group of its own."))
    }
}
