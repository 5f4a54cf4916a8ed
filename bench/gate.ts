/**
 * A tool call through the gate beside the bare call, in one run: judged by the rules, started,
 * made, and recorded with its result, on a SQLite store with durable commits.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gate } from '#calls';
import {
  AT_ONCE,
  type Call,
  inserter,
  openBenchGate,
  timesOf,
  timeTogether,
} from './call-times.ts';
import { type BenchResult, median } from './measure.ts';

const ROUNDS = 7;
const CALLS = 320;
/** Enough for the write-ahead log to reach its length: a commit takes longer while it grows. */
const WARM = 2_500;
/** The goal of the difference to the bare call, in milliseconds. */
const OVER_MAX = 0.5;

export async function gateBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    return await measured(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(folder: string): Promise<BenchResult[]> {
  const gate = await openBenchGate(folder);
  const insert = inserter(join(folder, 'bare.db'));
  const calls: Readonly<Record<'bare' | 'look' | 'pay', Call>> = {
    bare: tool,
    look: gated(gate, 'look'),
    pay: gated(gate, 'pay'),
  };
  for (const call of [calls.look, calls.pay, insert]) await timesOf(call, WARM / 2);
  const one: Record<'bare' | 'look' | 'pay' | 'insert', number[]> = {
    bare: [],
    look: [],
    pay: [],
    insert: [],
  };
  const many: Record<'bare' | 'look' | 'pay', number[]> = { bare: [], look: [], pay: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['bare', 'look', 'pay'] as const) {
      one[name].push(median(await timesOf(calls[name], CALLS)));
      many[name].push(await timeTogether(calls[name], CALLS));
    }
    one.insert.push(median(await timesOf(insert, CALLS)));
  }
  await gate.close();
  const insertMs = { name: 'bare SQLite insert', value: median(one.insert) };
  return (['look', 'pay'] as const).flatMap((name) => {
    const of = name === 'look' ? 'a reading call' : 'a changing call';
    return [
      overhead(
        `${of} through the gate, SQLite, over the bare call, p50`,
        one[name],
        one.bare,
        insertMs,
      ),
      overhead(
        `${of} of ${AT_ONCE} concurrent ones, over the bare call, time a call`,
        many[name],
        many.bare,
        insertMs,
      ),
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
    const call = {
      run: `r${n >> 8}`,
      id: `c${n}`,
      tool: name,
      args: { to: 'bob', cents: n % 1_000 },
    };
    const end = await gate.run(call, () => tool(n));
    if (end.end !== 'done') throw new Error(`The call ends as ${end.end}.`);
  };
}
