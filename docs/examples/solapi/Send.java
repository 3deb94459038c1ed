// Sends as programs for Solapi do that have their own HTTP client: only the address of the calls is changed.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.HexFormat;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Send {
    public static void main(String[] arguments) throws Exception {
        String body = """
            {"messages": [{"to": "%s", "from": "0212345678", "text": "주문하신 상품이 출발했습니다.",
             "customFields": {"order": "1024"}}]}""".formatted(arguments[0]);
        HttpRequest request = HttpRequest.newBuilder()
            .uri(URI.create(System.getenv("SOLAPI_ADDRESS") + "/messages/v4/send-many/detail"))
            .header("Authorization", authorization(System.getenv("SOLAPI_KEY"), System.getenv("SOLAPI_SECRET")))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(answer.body());
        System.exit(answer.statusCode() == 200 ? 0 : 1);
    }

    private static String authorization(String key, String secret) throws Exception {
        String date = Instant.now().toString();
        String salt = UUID.randomUUID().toString();
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(), "HmacSHA256"));
        String signature = HexFormat.of().formatHex(mac.doFinal((date + salt).getBytes()));
        return "HMAC-SHA256 apiKey=%s, date=%s, salt=%s, signature=%s".formatted(key, date, salt, signature);
    }
}
