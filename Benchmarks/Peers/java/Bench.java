import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One measured process on Java: {@code Bench java BENCHMARK CASE SECONDS}. The cases, the seed and the output are those of
 * qos-bench-peer.
 */
public final class Bench {
    public static void main(String[] words) throws Exception {
        if (words.length != 4) fail("usage: qos-bench-java java BENCHMARK CASE SECONDS");
        String[] parts = words[2].split(",");
        Map<String, Double> values = new HashMap<>();
        for (String part : Arrays.asList(parts).subList(1, parts.length)) {
            String[] sides = part.split("=");
            values.put(sides[0], Double.parseDouble(sides[1]));
        }
        double seconds = Double.parseDouble(words[3]);
        Work.calibrate();
        Map<String, Object> figures = switch (words[1]) {
            case "B1" -> Foreground.run(values.get("rho"), (long) (values.get("low") * 1e6), seconds);
            case "B3" -> Cost.run(parts[0], seconds);
            default -> null;
        };
        if (figures == null) fail("Java has no case " + words[1] + " " + words[2]);
        System.out.println(figures.entrySet().stream()
            .map(field -> "\"" + field.getKey() + "\":" + text(field.getValue()))
            .collect(Collectors.joining(",", "{", "}")));
        System.exit(0);
    }

    private static String text(Object value) {
        return value instanceof long[] latencies ? Arrays.toString(latencies) : value.toString();
    }

    static void fail(String message) {
        System.err.println("error: " + message);
        System.exit(64);
    }
}
