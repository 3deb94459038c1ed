// Sends as programs for NHN Cloud do: only the address, the app key and the secret key are changed.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Send {
    public static void main(String[] arguments) throws Exception {
        String body = """
            {"body": "주문하신 상품이 출발했습니다.", "sendNo": "0212345678",
             "recipientList": [{"recipientNo": "%s", "recipientGroupingKey": "order-1024"}]}""".formatted(arguments[0]);
        String path = "/sms/v3.0/appKeys/" + System.getenv("NHN_APP_KEY") + "/sender/sms";
        HttpRequest request = HttpRequest.newBuilder()
            .uri(URI.create(System.getenv("NHN_ADDRESS") + path))
            .timeout(Duration.ofSeconds(30))
            .header("X-Secret-Key", System.getenv("NHN_SECRET_KEY"))
            .header("Content-Type", "application/json;charset=UTF-8")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(answer.body());
        // an error has HTTP 200 too: its resultCode tells, that of the call and that of each recipient
        System.exit(answer.body().matches("(?s).*\"resultCode\":(?!0[,}]).*") ? 1 : 0);
    }
}
