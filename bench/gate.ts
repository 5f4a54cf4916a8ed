/**
 * A tool call through the gate beside the bare call, in one run: judged by the rules, begun, made,
 * and recorded with its result, on a SQLite store with durable commits.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Gate, openGate } from '#calls';
import { type BenchResult, median } from './measure.ts';

const ROUNDS = 7;
const CALLS = 320;
/** Enough for the write-ahead log to reach its length: a commit takes longer while it grows. */
const WARM = 2_500;
/** The goal of the difference to the bare call, in milliseconds. */
const OVER_MAX = 0.5;
const AT_ONCE = 16;

const RULES = `
id: bench
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible }
rules:
  - { id: look, allow: shop/look }
  - { id: pay, allow: shop/pay, where: [{ path: /cents, max: 1000 }] }
`;

type Call = (n: number) => Promise<unknown>;

export async function gateBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    return await measured(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(folder: string): Promise<BenchResult[]> {
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const gate = await openGate({ store: `sqlite:${join(folder, 'calls.db')}`, rules, agent: 'ada', server: 'shop' });
  const insert = inserter(join(folder, 'bare.db'));
  const calls: Readonly<Record<'bare' | 'look' | 'pay', Call>> = {
    bare: tool,
    look: gated(gate, 'look'),
    pay: gated(gate, 'pay'),
  };
  for (const call of [calls.look, calls.pay, insert]) await timesOf(call, WARM / 2);
  const one: Record<'bare' | 'look' | 'pay' | 'insert', number[]> = { bare: [], look: [], pay: [], insert: [] };
  const many: Record<'bare' | 'look' | 'pay', number[]> = { bare: [], look: [], pay: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['bare', 'look', 'pay'] as const) {
      one[name].push(median(await timesOf(calls[name], CALLS)));
      many[name].push(await timeTogether(calls[name]));
    }
    one.insert.push(median(await timesOf(insert, CALLS)));
  }
  await gate.close();
  const insertMs = { name: 'bare SQLite insert', value: median(one.insert) };
  return (['look', 'pay'] as const).flatMap((name) => {
    const of = name === 'look' ? 'a reading call' : 'a changing call';
    return [
      overhead(`${of} through the gate, SQLite, over the bare call, p50`, one[name], one.bare, insertMs),
      overhead(`${of} of ${AT_ONCE} at once, over the bare call, time a call`, many[name], many.bare, insertMs),
    ];
  });
}

function overhead(
  name: string,
  own: readonly number[],
  bare: readonly number[],
  baseline: BenchResult['baseline'] & object,
): BenchResult {
  return { name, value: median(own) - median(bare), unit: 'ms', baseline, goal: { max: OVER_MAX } };
}

async function tool(n: number): Promise<{ receipt: number }> {
  return { receipt: n };
}

let made = 0;

function gated(gate: Gate, name: string): Call {
  return async () => {
    const n = made++;
    const call = { run: `r${n >> 8}`, id: `c${n}`, tool: name, args: { to: 'bob', cents: n % 1_000 } };
    const end = await gate.run(call, () => tool(n));
    if (end.end !== 'done') throw new Error(`The call ends as ${end.end}.`);
  };
}

/** One durable insert of the size of an entry. */
function inserter(path: string): Call {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  const text = 'x'.repeat(1_500);
  return async () => {
    insert.run(text);
  };
}

async function timesOf(call: Call, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await call(n);
    times.push(performance.now() - start);
  }
  return times;
}

/** The time of a call, when so many are made at once. */
async function timeTogether(call: Call): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < CALLS; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => call(n + index)));
  return (performance.now() - start) / CALLS;
}
