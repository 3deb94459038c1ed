// A shop that sends an SMS for each order, and is told the results.
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

public final class Shop {
    private static final Pabal PABAL =
            new Pabal(System.getenv("PABAL_URL"), System.getenv("PABAL_API_KEY"), System.getenv("WEBHOOK_SECRET"));
    private static final Set<String> EVENTS = ConcurrentHashMap.newKeySet(); // in your shop: a unique column

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/orders/", Shop::order); // POST /orders/1001/010-1234-5678
        server.createContext("/requests/", Shop::lookUp); // GET /requests/REQUEST_ID
        server.createContext("/pabal", Shop::receive); // the webhook
        server.start();
    }

    private static void order(HttpExchange exchange) throws IOException {
        String[] path = exchange.getRequestURI().getPath().split("/");
        try {
            String content = "주문 " + path[2] + "이(가) 접수되었습니다.";
            reply(exchange, 200, PABAL.sendSms(content, path[3], path[2], "order-" + path[2]));
        } catch (Pabal.Refused refused) {
            reply(exchange, 400, refused.getMessage());
        } catch (IOException noAnswer) {
            reply(exchange, 503, "try again");
        }
    }

    private static void lookUp(HttpExchange exchange) throws IOException {
        reply(exchange, 200, PABAL.counts(exchange.getRequestURI().getPath().split("/")[2]).toString());
    }

    private static void receive(HttpExchange exchange) throws IOException {
        Headers headers = exchange.getRequestHeaders();
        JsonNode items;
        try {
            items = PABAL.verify(headers.getFirst("webhook-id"), headers.getFirst("webhook-timestamp"),
                    headers.getFirst("webhook-signature"), exchange.getRequestBody().readAllBytes());
        } catch (RuntimeException unsigned) {
            reply(exchange, 401, "");
            return;
        }
        for (JsonNode item : items) {
            if (EVENTS.add(item.path("eventId").asText())) { // an event may come twice
                System.out.println(item.path("reference").asText() + " " + item.at("/sendingStatus/value").asText());
            }
        }
        reply(exchange, 204, "");
    }

    private static void reply(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        if (body.length > 0) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }
}
