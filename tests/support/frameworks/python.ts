/** A program in Python that pays by the client of the HTTP API. The test serves its bank. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { ASKED, LAST_WORDS, type Payment, type StartHeld } from './held-run.ts';

const client = join(import.meta.dirname, '../../../clients/python');

/** Prints the page of the call that waits, or the last words. */
const PROGRAM = `
import json, os, urllib.request
from assize import CallPending, Client, Gate

gate = Gate(Client(os.environ["URL"], os.environ["TOKEN"]), server="bank")

@gate.tool()
def pay(to: str, euros: int) -> str:
    body = json.dumps({"to": to, "euros": euros}).encode()
    return urllib.request.urlopen(os.environ["BANK"], data=body).read().decode()

with gate.run("bill-of-may", "pay"):
    try:
        pay("${ASKED.to}", ${ASKED.euros})
        print("${LAST_WORDS}")
    except CallPending as pending:
        print(pending.page)
`;

export const startPython: StartHeld = async (_gate, pay, { url, token }) => {
  const bank = createServer(async (request, response) => {
    response.end(await pay((await json(request)) as Payment));
  });
  await once(bank.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void bank.close());
  const env = {
    ...process.env,
    URL: url,
    TOKEN: token,
    BANK: `http://127.0.0.1:${(bank.address() as AddressInfo).port}`,
  };
  const run = async () => {
    const { stdout } = await promisify(execFile)('python3', ['-B', '-c', PROGRAM], {
      cwd: client,
      env,
    });
    return stdout.trim();
  };
  return { page: await run(), resume: run };
};
