// Sends every call for https://api.solapi.com to SOLAPI_ADDRESS: the client has no setting for its address.

const REAL = 'https://api.solapi.com/';
const original = globalThis.fetch;

globalThis.fetch = (resource, options) => {
  const address = String(resource);
  if (!address.startsWith(REAL)) throw new Error(`a call to ${address} is not redirected`);
  return original(process.env.SOLAPI_ADDRESS + '/' + address.slice(REAL.length), options);
};
