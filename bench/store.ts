/**
 * Group commit beside bare inserts into the same tables. Bare means: one prepared statement, values
 * already as SQLite takes them, no promises and no checks, and the very groups that the store made:
 * the same rows with the same number of syncs. Sockets take their own time. Over sockets, bare is
 * also a server that writes what has come together. Run it alone: `node bench/store.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { EntryRow } from '#ledger';
import { openSqlite } from '#stores';
import {
  append,
  type Bare,
  Chains,
  type Drive,
  driveHere,
  measureAppends,
  perSecond,
  ROUNDS,
  type Rows,
  rateOf,
  Watch,
} from './appends.ts';
import { type BenchResult, formatTable, rateResult } from './measure.ts';

/** Entries a round for so many callers: 100 to 200 ms, so that checkpoints fall into the rounds. */
const ENTRIES: Readonly<Record<number, number>> = { 1: 800, 16: 4_000, 64: 8_192, 256: 16_384 };

export async function storeBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const sockets = await SocketCallers.connect(64);
  try {
    const results: BenchResult[] = [];
    for (const callers of [1, 16, 64, 256]) {
      const goal = callers === 64 ? { ratioMin: 0.75 } : undefined;
      results.push(
        ...(await measure(folder, `append, ${callers} in process`, callers, driveHere, goal)),
      );
    }
    results.push(...(await measure(folder, 'append, 64 over sockets', 64, sockets.drive)));
    results.push(await measureServers(folder, sockets));
    return results;
  } finally {
    await sockets.close();
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  folder: string,
  name: string,
  callers: number,
  drive: Drive,
  goal?: BenchResult['goal'],
): Promise<BenchResult[]> {
  const store = await openSqlite({ path: join(folder, `${name}.db`) });
  const bare = await BareInserts.open(join(folder, `${name}, bare.db`), callers);
  const entries = ENTRIES[callers]!;
  const results = await measureAppends({
    name,
    callers,
    entries,
    store,
    bare,
    drive,
    ...(goal && { goal }),
  });
  bare.close();
  await store.close();
  return results;
}

/** The store behind sockets beside bare inserts behind the same sockets. */
async function measureServers(folder: string, sockets: SocketCallers): Promise<BenchResult> {
  const callers = 64;
  const store = await openSqlite({ path: join(folder, 'served.db') });
  const bare = await BareInserts.open(join(folder, 'served bare.db'), callers);
  const watch = new Watch();
  const chains = new Chains(callers);
  const [own, baseline]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    const rows = chains.next(ENTRIES[callers]! / callers);
    const count = rows.length * rows[0]!.length;
    const turns = [
      async () => baseline.push(await perSecond(count, () => sockets.driveWith(rows, bare.append))),
      async () => own.push(await perSecond(count, () => sockets.drive(rows, store, watch))),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  bare.close();
  await store.close();
  const name = 'append, 64 over sockets, beside a bare server';
  return rateResult(rateOf(name, own), rateOf('bare inserts over sockets', baseline), {
    ratioMin: 0.75,
  });
}

/** Has a caller's entry written, and says when it is. */
type Append = (
  row: EntryRow,
  caller: number,
  done: () => void,
  fail: (error: unknown) => void,
) => void;

/**
 * A server here, and its callers in another process: a caller sends a byte for each entry and waits
 * for one back.
 */
class SocketCallers {
  readonly #server: Server;
  readonly #sockets: readonly Socket[];

  static async connect(callers: number): Promise<SocketCallers> {
    const sockets: Socket[] = [];
    const server = createServer({ noDelay: true }, (socket) => sockets.push(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    fork(fileURLToPath(import.meta.url), ['--callers', String(port), String(callers)]);
    while (sockets.length < callers) await once(server, 'connection');
    return new SocketCallers(server, sockets);
  }

  private constructor(server: Server, sockets: readonly Socket[]) {
    this.#server = server;
    this.#sockets = sockets;
  }

  readonly drive: Drive = async (chains, store, watch) => {
    await this.driveWith(
      chains,
      (row, _caller, done, fail) => void append(row, store, watch).then(done, fail),
    );
  };

  async driveWith(chains: Rows, write: Append): Promise<void> {
    await Promise.all(
      chains.map((chain, caller) => this.#serve(this.#sockets[caller]!, chain, caller, write)),
    );
  }

  /** The first byte sent here starts the caller, the last one leaves it waiting. */
  #serve(socket: Socket, chain: readonly EntryRow[], caller: number, write: Append): Promise<void> {
    return new Promise((resolve, reject) => {
      let next = 0;
      const serve = (): void => write(chain[next++]!, caller, answer, reject);
      const answer = (): void => {
        if (next < chain.length) socket.write('.');
        else {
          socket.off('data', serve);
          resolve();
        }
      };
      socket.on('data', serve);
      socket.write('.');
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The other process: answers each byte with the next call, until the server hangs up. */
function callFrom(port: number, callers: number): void {
  for (let caller = 0; caller < callers; caller += 1) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('data', () => socket.write('?'));
    socket.on('error', () => socket.destroy());
  }
}

type Bound = readonly [
  trajectory: number,
  seq: number,
  id: Buffer,
  parent: Buffer | null,
  kind: string,
  text: string,
];

function bind({ seq, id, parent, kind, payload }: EntryRow, caller: number): Bound {
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  return [caller, seq, bytes(id), parent === null ? null : bytes(parent), kind, payload];
}

/** Inserts into the store's own tables, as fast as node:sqlite can. */
class BareInserts implements Bare<Bound> {
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #insert: StatementSync;
  readonly #commit: StatementSync;
  readonly #waiting: { bound: Bound; done: () => void }[] = [];

  static async open(path: string, callers: number): Promise<BareInserts> {
    await (await openSqlite({ path })).close();
    const db = new DatabaseSync(path);
    // As the store has it: the same cache, and checkpoints about as often.
    db.exec(
      'PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 2000',
    );
    const trajectory = db.prepare('INSERT INTO trajectory (key, name) VALUES (?, ?)');
    for (let caller = 0; caller < callers; caller += 1) trajectory.run(caller, `t${caller}`);
    return new BareInserts(db);
  }

  private constructor(db: DatabaseSync) {
    this.#db = db;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#insert = db.prepare(
      'INSERT INTO entry (trajectory, seq, id, parent, kind, payload) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#commit = db.prepare('COMMIT');
  }

  /** Writes what has come since the last turn, in one transaction, and answers. */
  readonly append: Append = (row, caller, done, fail) => {
    if (this.#waiting.length === 0) setImmediate(this.#flush, fail);
    this.#waiting.push({ bound: bind(row, caller), done });
  };

  readonly #flush = (fail: (error: unknown) => void): void => {
    const group = this.#waiting.splice(0);
    try {
      this.insert(
        group.map(({ bound }) => bound),
        [group.length],
      );
      for (const { done } of group) done();
    } catch (error) {
      fail(error);
    }
  };

  bind(chains: Rows): Bound[] {
    return chains[0]!.flatMap((_, index) =>
      chains.map((chain, caller) => bind(chain[index]!, caller)),
    );
  }

  insert(rows: readonly Bound[], groups: readonly number[]): void {
    let next = 0;
    for (const size of groups) {
      this.#begin.run();
      for (const end = next + size; next < end; next += 1) {
        const [trajectory, seq, id, parent, kind, payload] = rows[next]!;
        this.#insert.run(trajectory, seq, id, parent, kind, payload);
      }
      this.#commit.run();
    }
    if (next !== rows.length) throw new Error(`the groups have ${next} rows of ${rows.length}`);
  }

  close(): void {
    this.#db.close();
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv[2] === '--callers') callFrom(Number(process.argv[3]), Number(process.argv[4]));
  else console.log(formatTable(await storeBench()));
}
