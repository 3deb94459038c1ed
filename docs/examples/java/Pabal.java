// Calls Pabal: sends once whatever happens to the connection, looks up requests, verifies webhooks.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Pabal {
    /** The service has refused a call for good: correct it before you repeat it. */
    public static final class Refused extends RuntimeException {
        Refused(JsonNode answer) {
            super(answer.path("result").asText() + ": " + answer.path("resultMessage").asText());
        }
    }

    private static final Set<Integer> TRANSIENT = Set.of(429, 500, 502, 503, 504);
    private static final int MAX_TRIES = 6;
    private static final long MAX_AGE_S = 300;

    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    private final String baseUrl;
    private final String key;
    private final byte[] secret;

    public Pabal(String baseUrl, String key, String secret) {
        this.baseUrl = baseUrl;
        this.key = key;
        this.secret = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
    }

    /** Sends an SMS; returns the id of the request. A repeat with the same key sends nothing. */
    public String sendSms(String content, String phone, String reference, String idempotencyKey) throws IOException {
        Map<String, Object> receiver = Map.of("phoneNumber", phone, "reference", reference);
        Map<String, Object> body = Map.of("content", content, "sender", "02-1234-5678", "receivers", List.of(receiver));
        HttpRequest.Builder request = request("/api/message/sendSMS.v1.0")
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", idempotencyKey)
                .POST(BodyPublishers.ofByteArray(json.writeValueAsBytes(body)));
        return call(request.build()).at("/item/requestId").asText();
    }

    /** Looks up a request; returns how many of its messages wait, are being sent, completed, failed, were cancelled. */
    public JsonNode counts(String requestId) throws IOException {
        return call(request("/api/message/request.v1.0?requestId=" + requestId).build()).at("/item/counts");
    }

    /** Returns the items of a webhook's delivery; throws SecurityException for one that is not signed, or old. */
    public JsonNode verify(String id, String timestamp, String signatures, byte[] body) throws IOException {
        byte[] expected;
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
            expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
        boolean isSigned = false;
        for (String each : signatures.split(" ")) {
            isSigned |= MessageDigest.isEqual(expected, each.getBytes(StandardCharsets.UTF_8));
        }
        if (!isSigned || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > MAX_AGE_S) {
            throw new SecurityException("not signed by Pabal, or too old");
        }
        return json.readTree(body).at("/data/items");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(baseUrl + path)).header("apiKey", key).timeout(Duration.ofSeconds(30));
    }

    private JsonNode call(HttpRequest request) throws IOException {
        for (int tried = 1; ; tried++) {
            double waitS = Math.pow(2, tried - 1) * ThreadLocalRandom.current().nextDouble(0.5, 1);
            IOException failure;
            try {
                HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
                if (!TRANSIENT.contains(response.statusCode())) {
                    return answer(json.readTree(response.body()));
                }
                waitS = Math.max(waitS, response.headers().firstValueAsLong("Retry-After").orElse(0));
                failure = new IOException("HTTP " + response.statusCode());
            } catch (IOException noAnswer) { // it may have been accepted: the same Idempotency-Key finds it
                failure = noAnswer;
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new IOException(stop);
            }
            if (tried == MAX_TRIES) {
                throw failure;
            }
            sleep(waitS);
        }
    }

    private static JsonNode answer(JsonNode answer) {
        if (!"SUCCESS".equals(answer.path("result").asText())) {
            throw new Refused(answer);
        }
        return answer;
    }

    private static void sleep(double seconds) throws IOException {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException(stop);
        }
    }
}
