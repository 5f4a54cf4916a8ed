/**
 * Keeps a server for the drivers of one state folder: `node keeper.ts KIND FOLDER`. It ends the
 * server when no driver of the folder has lived for a while.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, RestateServer } from '../../../tests/support/engines/restate-server.ts';
import { PostgresServer } from '../../../tests/support/postgres/server.ts';
import { servedGate } from './served-gate.ts';

/** The longest time between two drivers of one folder. */
const IDLE_MS = 15_000;

const [, , kind, folder] = process.argv as unknown as [
  string,
  'postgres' | 'restate' | 'assize',
  string,
];

const { address, stop } = await { postgres, restate, assize: () => servedGate(folder) }[kind]();
const file = join(folder, `${kind}.json`);
try {
  writeFileSync(`${file}.new`, JSON.stringify(address));
  renameSync(`${file}.new`, file);
  for (let idle = 0; idle < IDLE_MS; idle = isUsed() ? 0 : idle + 250) await sleep(250);
} finally {
  await stop();
}

async function postgres() {
  const server = await PostgresServer.start();
  const address = { url: `postgres://postgres@127.0.0.1:${server.port}/dbos` };
  return { address, stop: () => server.remove() };
}

async function restate() {
  const server = await RestateServer.start();
  const address = { ...server.addresses, service: await freePort() };
  return { address, stop: () => server.stop() };
}

/** Whether a driver of the folder lives. A folder that was removed has none. */
function isUsed(): boolean {
  try {
    const pids = readdirSync(folder).filter((name) => name.startsWith('driver-'));
    return pids.some((name) => isAlive(Number(readFileSync(join(folder, name), 'utf8'))));
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
