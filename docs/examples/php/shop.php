<?php
// A shop that sends an SMS for each order, and is told the results.
declare(strict_types=1);

require __DIR__ . '/pabal.php';

function order(string $number, string $phone): void // POST /orders/1001/010-1234-5678
{
    try {
        echo send_sms("주문 {$number}이(가) 접수되었습니다.", $phone, $number, "order-$number");
    } catch (Refused $refused) {
        http_response_code(400);
        echo $refused->getMessage();
    } catch (RuntimeException) {
        http_response_code(503);
        echo 'try again';
    }
}

function receive(): void // POST /pabal: the webhook
{
    $header = fn (string $name): string => $_SERVER['HTTP_WEBHOOK_' . $name] ?? '';
    $items = verify($header('ID'), $header('TIMESTAMP'), $header('SIGNATURE'), file_get_contents('php://input'));
    if ($items === null) {
        http_response_code(401);
        return;
    }
    foreach ($items as $item) {
        // An event may come twice: the file is made once. In your shop: a unique column.
        $isNew = @fopen(getenv('EVENTS') . '/' . basename($item['eventId']), 'x');
        if ($isNew) {
            file_put_contents('php://stdout', "{$item['reference']} {$item['sendingStatus']['value']}\n");
        }
    }
    http_response_code(204);
}

$path = explode('/', parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
match ($path[1]) {
    'orders' => order($path[2], $path[3]),
    'requests' => print json_encode(counts($path[2])), // GET /requests/REQUEST_ID
    'pabal' => receive(),
    default => http_response_code(404),
};
