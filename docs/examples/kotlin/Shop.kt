// A shop that sends an SMS for each order, and is told the results: on Java's own HTTP client and server.
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.io.IOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.security.MessageDigest
import java.time.Duration
import java.time.Instant
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.math.abs
import kotlin.math.max
import kotlin.random.Random

class Refused(answer: JsonNode) :
    RuntimeException("${answer.path("result").asText()}: ${answer.path("resultMessage").asText()}")

class Pabal(private val baseUrl: String, private val key: String, secret: String) {
    private val json = ObjectMapper()
    private val http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build()
    private val secret = SecretKeySpec(Base64.getDecoder().decode(secret.removePrefix("whsec_")), "HmacSHA256")

    /** Sends an SMS; returns the id of the request. A repeat with the same key sends nothing. */
    fun sendSms(content: String, phone: String, reference: String, idempotencyKey: String): String {
        val receiver = mapOf("phoneNumber" to phone, "reference" to reference)
        val body = mapOf("content" to content, "sender" to "02-1234-5678", "receivers" to listOf(receiver))
        val request = request("/api/message/sendSMS.v1.0")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", idempotencyKey)
            .POST(BodyPublishers.ofByteArray(json.writeValueAsBytes(body)))
        return call(request.build()).at("/item/requestId").asText()
    }

    /** Looks up a request; returns how many of its messages have which status. */
    fun counts(requestId: String): JsonNode =
        call(request("/api/message/request.v1.0?requestId=$requestId").build()).at("/item/counts")

    /** Returns the items of a webhook's delivery; throws SecurityException for one that is not signed, or old. */
    fun verify(id: String, timestamp: String, signatures: String, body: ByteArray): JsonNode {
        val mac = Mac.getInstance("HmacSHA256").apply { init(secret) }
        mac.update("$id.$timestamp.".toByteArray())
        val expected = "v1,${Base64.getEncoder().encodeToString(mac.doFinal(body))}".toByteArray()
        val isSigned = signatures.split(" ").any { MessageDigest.isEqual(expected, it.toByteArray()) }
        if (!isSigned || abs(Instant.now().epochSecond - timestamp.toLong()) > MAX_AGE_S) {
            throw SecurityException("not signed by Pabal, or too old")
        }
        return json.readTree(body).at("/data/items")
    }

    private fun request(path: String): HttpRequest.Builder =
        HttpRequest.newBuilder(URI.create(baseUrl + path)).header("apiKey", key).timeout(Duration.ofSeconds(30))

    private fun call(request: HttpRequest): JsonNode {
        var tried = 1
        while (true) {
            var waitS = (1 shl (tried - 1)) * Random.nextDouble(0.5, 1.0)
            val failure = try {
                val response = http.send(request, BodyHandlers.ofByteArray())
                if (response.statusCode() !in TRANSIENT) {
                    val answer = json.readTree(response.body())
                    return if (answer.path("result").asText() == "SUCCESS") answer else throw Refused(answer)
                }
                waitS = max(waitS, response.headers().firstValue("Retry-After").orElse("0").toDouble())
                IOException("HTTP ${response.statusCode()}")
            } catch (noAnswer: IOException) { // it may have been accepted: the same Idempotency-Key finds it
                noAnswer
            }
            if (tried++ == MAX_TRIES) throw failure
            Thread.sleep((waitS * 1000).toLong())
        }
    }

    private companion object {
        val TRANSIENT = setOf(429, 500, 502, 503, 504)
        const val MAX_TRIES = 6
        const val MAX_AGE_S = 300
    }
}

fun main() {
    val env = System.getenv()
    val pabal = Pabal(env.getValue("PABAL_URL"), env.getValue("PABAL_API_KEY"), env.getValue("WEBHOOK_SECRET"))
    val events = ConcurrentHashMap.newKeySet<String>() // in your shop: a unique column
    val port = env.getOrDefault("PORT", "3000").toInt()
    val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0)
    server.executor = Executors.newFixedThreadPool(8)
    server.createContext("/orders/") { exchange -> // POST /orders/1001/010-1234-5678
        val (number, phone) = exchange.requestURI.path.split("/").drop(2)
        try {
            exchange.reply(200, pabal.sendSms("주문 ${number}이(가) 접수되었습니다.", phone, number, "order-$number"))
        } catch (refused: Refused) {
            exchange.reply(400, refused.message.orEmpty())
        } catch (noAnswer: IOException) {
            exchange.reply(503, "try again")
        }
    }
    server.createContext("/requests/") { exchange -> // GET /requests/REQUEST_ID
        exchange.reply(200, pabal.counts(exchange.requestURI.path.substringAfterLast("/")).toString())
    }
    server.createContext("/pabal") { exchange -> // the webhook
        fun header(name: String) = exchange.requestHeaders.getFirst(name).orEmpty()
        try {
            val signature = header("webhook-signature")
            val body = exchange.requestBody.readAllBytes()
            for (item in pabal.verify(header("webhook-id"), header("webhook-timestamp"), signature, body)) {
                if (events.add(item.path("eventId").asText())) { // an event may come twice
                    println("${item.path("reference").asText()} ${item.at("/sendingStatus/value").asText()}")
                }
            }
            exchange.reply(204, "")
        } catch (unsigned: RuntimeException) {
            exchange.reply(401, "")
        }
    }
    server.start()
}

private fun HttpExchange.reply(status: Int, text: String) = use {
    val body = text.toByteArray()
    sendResponseHeaders(status, if (body.isEmpty()) -1 else body.size.toLong())
    if (body.isNotEmpty()) responseBody.write(body)
}
