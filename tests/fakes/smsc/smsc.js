// An SMSC made of npm's `smpp` alone: node smsc.js PORT OPTIONS, where 0 is any free port.
//
// OPTIONS is JSON; all but the first two may be left out:
//   system_id, password  whom it lets in
//   receipt              "text" (default), "tlv" or "none"
//   stat, err            what its receipts say; default DELIVRD and 000
//   hex_ids              its answers hold hexadecimal ids, its receipts decimal ones with zeros in front
//   echo_reference       its receipts hold the user_message_reference of the message
//   answer_after_ms      how long a submit_sm waits for its answer; default 0
//   receipt_first        a receipt goes out before the answer that it is about
//   throttle_every       it answers every so many-th submit_sm with ESME_RTHROTTLED
//   withhold_part        it reports this part of long messages only after the word `release`
//   log                  a file that all it prints is added to, and that it learns from what it owes
// It prints a JSON object a line, takes words from standard input, and ends when that does.

'use strict';

const fs = require('fs');
const readline = require('readline');
const iconv = require('iconv-lite');
const smpp = require('smpp');

const RECEIPT_AFTER_MS = 20;
const AGAIN_AFTER_MS = 200;
const DECIMAL_DIGITS = 20;
const WANTS_RECEIPT = 0x01;
const IS_RECEIPT = 0x04;
const STATES = { DELIVRD: 2, EXPIRED: 3, DELETED: 4, UNDELIV: 5, ACCEPTD: 6, UNKNOWN: 7, REJECTD: 8 };

const port = Number(process.argv[2]);
const options = { receipt: 'text', stat: 'DELIVRD', err: '000', ...JSON.parse(process.argv[3]) };
const log = options.log ? fs.openSync(options.log, 'a+') : null;
const owed = new Map(); // message id -> what a receipt needs to know
const underWay = new Map(); // message id -> the session its receipt was sent on
const receivers = new Set();
let lastId = Date.now() * 1000; // so that no two runs give the same id
let submits = 0;

function tell(event, facts) {
  const line = Buffer.from(JSON.stringify({ event, ...facts }) + '\n');
  if (log !== null) fs.writeSync(log, line);
  fs.writeSync(1, line);
}

function teachKorean() {
  // The package knows the name of data_coding 14, and has no coder for it.
  smpp.encodings.KS_C_5601 = {
    match: () => false,
    encode: text => iconv.encode(text, 'cp949'),
    decode: octets => iconv.decode(octets, 'cp949'),
  };
}

function keepOctets() {
  // The package forgets the octets that it has decoded.
  const decode = smpp.filters.message.decode;
  smpp.filters.message.decode = function (value, skipUdh) {
    const message = decode.call(this, value, skipUdh);
    if (Buffer.isBuffer(value) && message !== value) message.octets = value;
    return message;
  };
}

function recall() {
  const kept = fs.readFileSync(options.log);
  const whole = kept.subarray(0, kept.lastIndexOf('\n') + 1); // a kill may have cut off what was being written
  fs.ftruncateSync(log, whole.length);
  for (const line of whole.toString('utf8').split('\n').filter(Boolean)) {
    const said = JSON.parse(line);
    if (said.event === 'submit_sm') owe(said);
    if (said.event === 'deliver_sm_resp' && said.status === 0) owed.delete(said.message_id);
  }
}

function owe(submit) {
  const wanted = submit.registered_delivery & WANTS_RECEIPT && options.receipt !== 'none';
  if (submit.status === 0 && wanted) owed.set(submit.message_id, submit);
}

function letIn(session, bind) {
  let status = 0;
  if (bind.system_id !== options.system_id) status = smpp.ESME_RINVSYSID;
  else if (bind.password !== options.password) status = smpp.ESME_RINVPASWD;
  tell('bind', { kind: bind.command, system_id: bind.system_id, status });
  session.send(bind.response({ command_status: status, system_id: 'smsc.js' }));
  if (status) return session.close();
  session.kind = bind.command;
  if (bind.command === 'bind_transmitter') return;
  receivers.add(session);
  reportAll();
}

function take(session, pdu) {
  let status = 0;
  if (!session.kind || session.kind === 'bind_receiver') status = smpp.ESME_RINVBNDSTS;
  else if (options.throttle_every && ++submits % options.throttle_every === 0) status = smpp.ESME_RTHROTTLED;
  const id = status ? null : ++lastId;
  const submit = { ...described(pdu), message_id: id && String(id), status };
  tell('submit_sm', submit);
  owe(submit);
  if (options.receipt_first) report(submit.message_id);
  const wait = options.receipt_first ? RECEIPT_AFTER_MS : options.answer_after_ms;
  if (wait) setTimeout(answer, wait, session, pdu, status, id);
  else answer(session, pdu, status, id);
}

function answer(session, pdu, status, id) {
  const shown = id && (options.hex_ids ? id.toString(16).toUpperCase() : String(id));
  session.send(pdu.response({ command_status: status, message_id: shown }));
  if (id) setTimeout(report, RECEIPT_AFTER_MS, String(id));
}

function described(pdu) {
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
  for (const id of owed.keys()) report(id);
}

function report(id) {
  const [session] = receivers;
  const submit = owed.get(id);
  if (!session || !submit || underWay.has(id)) return;
  if (options.withhold_part && partNumber(submit) === options.withhold_part) return;
  underWay.set(id, session);
  session.deliver_sm(receipt(submit), answer => settle(id, answer));
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

function settle(id, answer) {
  underWay.delete(id);
  tell('deliver_sm_resp', { message_id: id, status: answer.command_status, sequence: answer.sequence_number });
  if (answer.command_status === 0) owed.delete(id);
  else setTimeout(report, AGAIN_AFTER_MS, id);
}

function forget(session) {
  receivers.delete(session);
  for (const [id, on] of underWay) if (on === session) underWay.delete(id);
  if (session.kind) tell('close', { kind: session.kind });
  reportAll();
}

function obey(word) {
  if (word !== 'release') throw new Error(`what is ${word}?`);
  options.withhold_part = null;
  reportAll();
}

function serve(session) {
  for (const kind of ['bind_transmitter', 'bind_receiver', 'bind_transceiver']) {
    session.on(kind, pdu => letIn(session, pdu));
  }
  session.on('submit_sm', pdu => take(session, pdu));
  session.on('enquire_link', pdu => session.send(pdu.response()));
  session.on('unbind', pdu => { session.send(pdu.response()); session.close(); });
  session.on('unknown', pdu => session.send(pdu.response()));
  session.on('error', error => { tell('error', { text: String(error) }); session.destroy(); });
  session.on('close', () => forget(session));
}

teachKorean();
keepOctets();
if (log !== null) recall();
const server = smpp.createServer(serve);
server.listen(port, '127.0.0.1', () => tell('listening', { port: server.address().port }));
readline.createInterface({ input: process.stdin }).on('line', obey).on('close', () => process.exit(0));
