// Sends by npm's solapi through a Pabal of your own: only the address of the calls is changed.
const { SolapiMessageService } = require('solapi');

const original = globalThis.fetch;
globalThis.fetch = (resource, options) =>
  original(String(resource).replace('https://api.solapi.com', process.env.SOLAPI_ADDRESS), options);

const service = new SolapiMessageService(process.env.SOLAPI_KEY, process.env.SOLAPI_SECRET);
service
  .send({ to: process.argv[2], from: '0212345678', text: '주문하신 상품이 출발했습니다.', customFields: { order: '1024' } })
  .then(({ groupInfo }) => console.log(groupInfo.groupId, groupInfo.count.registeredSuccess))
  .catch((error) => {
    console.error(String(error), error.failedMessageList ?? '');
    process.exitCode = 1;
  });
