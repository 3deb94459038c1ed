// The shop as a controller of Spring Boot 3; Pabal.java is the one of the page on Java.
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class ShopController {
    private final Pabal pabal;
    private final Set<String> events = ConcurrentHashMap.newKeySet(); // in your shop: a unique column

    public ShopController(
            @Value("${pabal.url}") String url,
            @Value("${pabal.key}") String key,
            @Value("${pabal.secret}") String secret) {
        this.pabal = new Pabal(url, key, secret);
    }

    @PostMapping("/orders/{number}/{phone}")
    public String order(@PathVariable("number") String number, @PathVariable("phone") String phone)
            throws IOException {
        return pabal.sendSms("주문 " + number + "이(가) 접수되었습니다.", phone, number, "order-" + number);
    }

    @GetMapping("/requests/{id}")
    public JsonNode lookUp(@PathVariable("id") String id) throws IOException {
        return pabal.counts(id);
    }

    @PostMapping("/pabal") // byte[]: the signature is that of the body as it arrived
    public ResponseEntity<Void> receive(
            @RequestHeader("webhook-id") String id,
            @RequestHeader("webhook-timestamp") String timestamp,
            @RequestHeader("webhook-signature") String signature,
            @RequestBody byte[] body)
            throws IOException {
        for (JsonNode item : pabal.verify(id, timestamp, signature, body)) {
            if (events.add(item.path("eventId").asText())) { // an event may come twice
                System.out.println(item.path("reference").asText() + " " + item.at("/sendingStatus/value").asText());
            }
        }
        return ResponseEntity.noContent().build();
    }

    @ExceptionHandler(Pabal.Refused.class)
    public ResponseEntity<String> refused(Pabal.Refused refused) {
        return ResponseEntity.badRequest().body(refused.getMessage());
    }

    @ExceptionHandler(IOException.class)
    public ResponseEntity<String> noAnswer() {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("try again");
    }

    @ExceptionHandler(SecurityException.class)
    public ResponseEntity<Void> unsigned() {
        return ResponseEntity.status(HttpStatus.UNAUTHORIZED).build();
    }
}
