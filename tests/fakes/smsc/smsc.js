// An SMSC based on npm's `smpp`: node smsc.js PORT OPTIONS; port 0 is any free port.
//
// OPTIONS is JSON; all but the first two are optional:
//   system_id, password  the accepted credentials
//   receipt              "text" (default), "tlv" or "none"
//   stat, err            values of its receipts; default DELIVRD and 000
//   hex_ids              responses have hexadecimal ids, receipts zero-padded decimal ones
//   echo_reference       receipts have the user_message_reference of the message
//   answer_after_ms      delay of a submit_sm_resp; default 0
//   silent_after         submits after the nth of this run get no submit_sm_resp
//   receipt_first        a receipt is sent before the submit_sm_resp of its message
//   throttle_every       every nth submit_sm gets ESME_RTHROTTLED
//   withhold_part        receipts of this segment are sent only after the command `release`
//   log                  a file of all events, from which pending receipts are restored
// It prints one JSON object per line, reads commands from standard input, and exits when that ends:
//   release              send the receipts that were withheld
//   write JSON           send a message of a subscriber: source, destination, text

'use strict';

const fs = require('fs');
const readline = require('readline');
const iconv = require('iconv-lite');
const smpp = require('smpp');

const RECEIPT_AFTER_MS = 20;
const RETRY_AFTER_MS = 200;
const DECIMAL_DIGITS = 20;
const WANTS_RECEIPT = 0x01;
const IS_RECEIPT = 0x04;
const STATES = { DELIVRD: 2, EXPIRED: 3, DELETED: 4, UNDELIV: 5, ACCEPTD: 6, UNKNOWN: 7, REJECTD: 8 };

const port = Number(process.argv[2]);
const options = { receipt: 'text', stat: 'DELIVRD', err: '000', ...JSON.parse(process.argv[3]) };
const log = options.log ? fs.openSync(options.log, 'a+') : null;
const pending = new Map(); // message id -> submit without a confirmed receipt
const inFlight = new Map(); // message id -> the session its receipt was sent on
const receivers = new Set();
let lastId = Date.now() * 1000; // ids are unique across restarts
let submits = 0;

function emit(event, facts) {
  const line = Buffer.from(JSON.stringify({ event, ...facts }) + '\n');
  if (log !== null) fs.writeSync(log, line);
  fs.writeSync(1, line);
}

function addKoreanEncoding() {
  // The package has a name for data_coding 14, but no encoder.
  smpp.encodings.KS_C_5601 = {
    match: () => false,
    encode: text => iconv.encode(text, 'cp949'),
    decode: octets => iconv.decode(octets, 'cp949'),
  };
}

function keepRawOctets() {
  // The package discards the raw octets after decoding.
  const decode = smpp.filters.message.decode;
  smpp.filters.message.decode = function (value, skipUdh) {
    const message = decode.call(this, value, skipUdh);
    if (Buffer.isBuffer(value) && message !== value) message.octets = value;
    return message;
  };
}

function restore() {
  const logged = fs.readFileSync(options.log);
  const complete = logged.subarray(0, logged.lastIndexOf('\n') + 1); // a kill may have truncated the last line
  fs.ftruncateSync(log, complete.length);
  for (const line of complete.toString('utf8').split('\n').filter(Boolean)) {
    const event = JSON.parse(line);
    if (event.event === 'submit_sm') addPending(event);
    if (event.event === 'deliver_sm_resp' && event.status === 0) pending.delete(event.message_id);
  }
}

function addPending(submit) {
  const wanted = submit.registered_delivery & WANTS_RECEIPT && options.receipt !== 'none';
  if (submit.status === 0 && wanted) pending.set(submit.message_id, submit);
}

function bindSession(session, bind) {
  let status = 0;
  if (bind.system_id !== options.system_id) status = smpp.ESME_RINVSYSID;
  else if (bind.password !== options.password) status = smpp.ESME_RINVPASWD;
  emit('bind', { kind: bind.command, system_id: bind.system_id, status });
  session.send(bind.response({ command_status: status, system_id: 'smsc.js' }));
  if (status) return session.close();
  session.kind = bind.command;
  if (bind.command === 'bind_transmitter') return;
  receivers.add(session);
  reportAll();
}

function submit(session, pdu) {
  let status = 0;
  if (!session.kind || session.kind === 'bind_receiver') status = smpp.ESME_RINVBNDSTS;
  else if (options.throttle_every && ++submits % options.throttle_every === 0) status = smpp.ESME_RTHROTTLED;
  const id = status ? null : ++lastId;
  const submit = { ...describeSubmit(pdu), message_id: id && String(id), status };
  emit('submit_sm', submit);
  addPending(submit);
  if (options.receipt_first) report(submit.message_id);
  const wait = options.receipt_first ? RECEIPT_AFTER_MS : options.answer_after_ms;
  if (options.silent_after != null && ++submits > options.silent_after) return;
  if (wait) setTimeout(answer, wait, session, pdu, status, id);
  else answer(session, pdu, status, id);
}

function answer(session, pdu, status, id) {
  const shown = id && (options.hex_ids ? id.toString(16).toUpperCase() : String(id));
  session.send(pdu.response({ command_status: status, message_id: shown }));
  if (id) setTimeout(report, RECEIPT_AFTER_MS, String(id));
}

function describeSubmit(pdu) {
  const message = pdu.message_payload || pdu.short_message;
  return {
    source: pdu.source_addr,
    destination: pdu.destination_addr,
    text: typeof message.message === 'string' ? message.message : null,
    udh: message.udh ? Buffer.concat(message.udh).toString('hex') : null,
    raw: message.octets.toString('hex'),
    is_payload: Boolean(pdu.message_payload),
    data_coding: pdu.data_coding,
    esm_class: pdu.esm_class,
    registered_delivery: pdu.registered_delivery,
    reference: pdu.user_message_reference ?? null,
    sequence: pdu.sequence_number,
  };
}

function partNumber(submit) {
  return submit.udh ? parseInt(submit.udh.slice(-2), 16) : 0;
}

function reportAll() {
  for (const id of pending.keys()) report(id);
}

function report(id) {
  const [session] = receivers;
  const submit = pending.get(id);
  if (!session || !submit || inFlight.has(id)) return;
  if (options.withhold_part && partNumber(submit) === options.withhold_part) return;
  inFlight.set(id, session);
  session.deliver_sm(receipt(submit), answer => onDeliverResp(id, answer));
}

function receipt(submit) {
  const head = { esm_class: IS_RECEIPT, source_addr: submit.destination, destination_addr: submit.source };
  if (options.echo_reference && submit.reference !== null) head.user_message_reference = submit.reference;
  if (options.receipt === 'text') return { ...head, short_message: receiptText(submit.message_id) };
  const error = Number(options.err);
  return {
    ...head,
    receipted_message_id: submit.message_id,
    message_state: STATES[options.stat],
    network_error_code: Buffer.from([3, error >> 8, error & 255]),
  };
}

function receiptText(id) {
  const shown = options.hex_ids ? id.padStart(DECIMAL_DIGITS, '0') : id;
  const at = new Date().toISOString().replace(/\D/g, '').slice(2, 12);
  const end = `stat:${options.stat} err:${options.err} text:`;
  return `id:${shown} sub:001 dlvrd:001 submit date:${at} done date:${at} ${end}`;
}

function onDeliverResp(id, answer) {
  inFlight.delete(id);
  emit('deliver_sm_resp', { message_id: id, status: answer.command_status, sequence: answer.sequence_number });
  if (answer.command_status === 0) pending.delete(id);
  else setTimeout(report, RETRY_AFTER_MS, id);
}

function closeSession(session) {
  receivers.delete(session);
  for (const [id, on] of inFlight) if (on === session) inFlight.delete(id);
  if (session.kind) emit('close', { kind: session.kind });
  reportAll();
}

function write({ source, destination, text }) {
  const head = { source_addr: source, destination_addr: destination };
  const done = answer => onDeliverResp('', answer);
  const [session] = receivers;
  const pieces = text.match(/[^]{1,66}/g);
  if (pieces.length === 1) return session.deliver_sm({ ...head, short_message: text }, done);
  pieces.forEach((message, at) => {
    const udh = Buffer.from([5, 0, 3, 77, pieces.length, at + 1]);
    session.deliver_sm({ ...head, data_coding: 8, short_message: { udh, message } }, done);
  });
}

function execute(command) {
  if (command.startsWith('write ')) return write(JSON.parse(command.slice(6)));
  if (command !== 'release') throw new Error(`unknown command ${command}`);
  options.withhold_part = null;
  reportAll();
}

function serve(session) {
  for (const kind of ['bind_transmitter', 'bind_receiver', 'bind_transceiver']) {
    session.on(kind, pdu => bindSession(session, pdu));
  }
  session.on('submit_sm', pdu => submit(session, pdu));
  session.on('enquire_link', pdu => session.send(pdu.response()));
  session.on('unbind', pdu => { session.send(pdu.response()); session.close(); });
  session.on('unknown', pdu => session.send(pdu.response()));
  session.on('error', error => { emit('error', { text: String(error) }); session.destroy(); });
  session.on('close', () => closeSession(session));
}

addKoreanEncoding();
keepRawOctets();
if (log !== null) restore();
const server = smpp.createServer(serve);
server.listen(port, '127.0.0.1', () => emit('listening', { port: server.address().port }));
readline.createInterface({ input: process.stdin }).on('line', execute).on('close', () => process.exit(0));
