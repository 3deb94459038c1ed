<?php
// Sends as programs for NHN Cloud do that use curl: only the address, the app key and the secret key are changed.
declare(strict_types=1);

function call(string $method, string $path, ?array $body = null): array
{
    $curl = curl_init(getenv('NHN_ADDRESS') . '/sms/v3.0/appKeys/' . getenv('NHN_APP_KEY') . "/$path");
    curl_setopt_array($curl, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_HTTPHEADER => [
            'X-Secret-Key: ' . getenv('NHN_SECRET_KEY'),
            'Content-Type: application/json;charset=UTF-8',
        ],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
    ]);
    if ($body !== null) {
        curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
    }
    $answer = curl_exec($curl);
    if ($answer === false) {
        throw new RuntimeException(curl_error($curl));
    }
    $found = json_decode($answer, true, 64, JSON_THROW_ON_ERROR);
    if (!$found['header']['isSuccessful']) {
        throw new RuntimeException("{$found['header']['resultCode']} {$found['header']['resultMessage']}");
    }
    return $found['body']['data'];
}

$sent = call('POST', 'sender/sms', [
    'body' => '주문하신 상품이 출발했습니다.',
    'sendNo' => '0212345678',
    'recipientList' => [['recipientNo' => $argv[1], 'recipientGroupingKey' => 'order-1024']],
]);
foreach ($sent['sendResultList'] as $each) {
    echo "{$sent['requestId']} {$each['recipientSeq']} {$each['recipientNo']} {$each['resultCode']}\n";
}
exit(array_filter(array_column($sent['sendResultList'], 'resultCode')) ? 1 : 0);
