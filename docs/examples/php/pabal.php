<?php
// Calls Pabal: sends once whatever happens to the connection, looks up requests, verifies webhooks.
declare(strict_types=1);

const TRANSIENT = [0, 429, 500, 502, 503, 504]; // 0: no answer; the same Idempotency-Key finds what was accepted
const MAX_TRIES = 6;
const MAX_AGE_S = 300;

/** The service has refused a call for good: correct it before you repeat it. */
final class Refused extends RuntimeException
{
}

/** Calls an operation; returns its answer. */
function call(string $path, ?array $body = null, array $headers = []): array
{
    $headers[] = 'apiKey: ' . getenv('PABAL_API_KEY');
    $curl = curl_init(getenv('PABAL_URL') . $path);
    if ($body !== null) {
        $headers[] = 'Content-Type: application/json';
        curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
    }
    $retryAfter = 0;
    curl_setopt_array($curl, [
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_CONNECTTIMEOUT => 5,
        CURLOPT_TIMEOUT => 30,
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$retryAfter): int {
            if (stripos($line, 'retry-after:') === 0) {
                $retryAfter = (int) substr($line, 12);
            }
            return strlen($line);
        },
    ]);
    for ($tried = 1; ; $tried++) {
        $retryAfter = 0;
        $text = curl_exec($curl);
        $status = $text === false ? 0 : curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if (!in_array($status, TRANSIENT, true)) {
            break;
        }
        if ($tried === MAX_TRIES) {
            throw new RuntimeException("no answer: HTTP $status " . curl_error($curl));
        }
        $wait = 2 ** ($tried - 1) * random_int(500, 1000) / 1000;
        usleep((int) (max($wait, $retryAfter) * 1_000_000));
    }
    $answer = json_decode($text, true, 64, JSON_THROW_ON_ERROR);
    if ($answer['result'] !== 'SUCCESS') {
        throw new Refused("{$answer['result']}: {$answer['resultMessage']}");
    }
    return $answer;
}

/** Sends an SMS; returns the id of the request. A repeat with the same key sends nothing. */
function send_sms(string $content, string $phone, string $reference, string $idempotencyKey): string
{
    $receivers = [['phoneNumber' => $phone, 'reference' => $reference]];
    $body = ['content' => $content, 'sender' => '02-1234-5678', 'receivers' => $receivers];
    $answer = call('/api/message/sendSMS.v1.0', $body, ["Idempotency-Key: $idempotencyKey"]);
    return $answer['item']['requestId'];
}

/** Looks up a request; returns how many of its messages have which status. */
function counts(string $requestId): array
{
    return call('/api/message/request.v1.0?requestId=' . urlencode($requestId))['item']['counts'];
}

/** Returns the items of a webhook's delivery; null for one that is not signed, or old. */
function verify(string $id, string $timestamp, string $signatures, string $body): ?array
{
    $secret = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
    if ($secret === '') {
        throw new LogicException('WEBHOOK_SECRET is missing: anybody could sign with an empty one');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
    $signed = array_filter(explode(' ', $signatures), fn (string $each): bool => hash_equals($expected, $each));
    if (!$signed || abs(time() - (int) $timestamp) > MAX_AGE_S) {
        return null;
    }
    return json_decode($body, true, 64, JSON_THROW_ON_ERROR)['data']['items'];
}
