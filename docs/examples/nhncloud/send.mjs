// Sends as programs for NHN Cloud do: only the address, the app key and the secret key are changed.
const { NHN_ADDRESS, NHN_APP_KEY, NHN_SECRET_KEY } = process.env;

async function call(method, path, body) {
  const answer = await fetch(`${NHN_ADDRESS}/sms/v3.0/appKeys/${NHN_APP_KEY}/${path}`, {
    method,
    headers: { 'X-Secret-Key': NHN_SECRET_KEY, 'Content-Type': 'application/json;charset=UTF-8' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const { header, body: found } = await answer.json();
  if (!header.isSuccessful) throw new Error(`${header.resultCode} ${header.resultMessage}`);
  return found.data;
}

const sent = await call('POST', 'sender/sms', {
  body: '주문하신 상품이 출발했습니다.',
  sendNo: '0212345678',
  recipientList: [{ recipientNo: process.argv[2], recipientGroupingKey: 'order-1024' }],
});
for (const { recipientNo, resultCode, resultMessage, recipientSeq } of sent.sendResultList) {
  console.log(sent.requestId, recipientSeq, recipientNo, resultCode, resultMessage);
}
if (sent.sendResultList.some(({ resultCode }) => resultCode !== 0)) process.exitCode = 1;
