<?php
// Sends as programs for Solapi do that use curl: only the address of the calls is changed.
declare(strict_types=1);

function authorization(string $key, string $secret): string
{
    $date = gmdate('Y-m-d\TH:i:s\Z');
    $salt = bin2hex(random_bytes(16));
    $signature = hash_hmac('sha256', $date . $salt, $secret);
    return "Authorization: HMAC-SHA256 apiKey=$key, date=$date, salt=$salt, signature=$signature";
}

$message = [
    'to' => $argv[1],
    'from' => '0212345678',
    'text' => '주문하신 상품이 출발했습니다.',
    'customFields' => ['order' => '1024'],
];
$curl = curl_init(getenv('SOLAPI_ADDRESS') . '/messages/v4/send-many/detail');
curl_setopt_array($curl, [
    CURLOPT_HTTPHEADER => [
        authorization(getenv('SOLAPI_KEY'), getenv('SOLAPI_SECRET')),
        'Content-Type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode(['messages' => [$message]], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE),
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
]);
echo curl_exec($curl), "\n";
exit(curl_getinfo($curl, CURLINFO_RESPONSE_CODE) === 200 ? 0 : 1);
