import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { canonicalize } from '#canon';
import { budget } from '#domains/budget';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { payloads, soundState } from '../support/ledger/desk.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';

const PROPOSER = await bundled(join(import.meta.dirname, 'proposer.ts'));

const PROCESSES = 4;
const PROPOSALS = 50;
/** The cost of each proposal. The budget is not enough for all. */
const AMOUNT = 700;
const CAP = 100_000;

/**
 * The answers to processes that propose to one trajectory, one at a time or several concurrently.
 */
async function proposeTogether(url: string, lanes: number): Promise<string[]> {
  const children = Array.from({ length: PROCESSES }, (_, n) =>
    spawn(process.execPath, [PROPOSER, url, `agent-${n}`, String(PROPOSALS), String(lanes)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const outputs = children.map(linesOf);
  for (const { ready } of outputs) await ready;
  for (const child of children) child.stdin!.end('go\n');
  return (await Promise.all(outputs.map(({ all }) => all))).flat();
}

/** When it has said the first line, and all others once it has ended well. */
function linesOf(child: ChildProcess): { ready: Promise<unknown>; all: Promise<string[]> } {
  const lines: string[] = [];
  const output = createInterface(child.stdout!).on('line', (line) => lines.push(line));
  const all = once(child, 'close').then(([code]) => {
    expect(code).toBe(0);
    return lines.slice(1);
  });
  return { ready: Promise.race([once(output, 'line'), all]), all };
}

async function expectAllRuled(url: string, lanes: number): Promise<void> {
  const store = await openStore(url);
  try {
    await runtimeOver(store, [budget]).create(budget, {
      trajectoryId: 't',
      writs: [writFor('agent')],
    });
    const told = await proposeTogether(url, lanes);
    const state = await soundState(store, 't');
    const [, ...entries] = await payloads(store, 't');
    // Each was ruled on once, and learned what stands in its place.
    const inPlace = entries.map(
      ({ kind, seq }) => `${kind === 'commit' ? 'committed' : 'rejected'} ${seq}`,
    );
    expect(told.toSorted()).toEqual(inPlace.toSorted());
    expect(entries).toHaveLength(PROCESSES * PROPOSALS);
    // And was judged on the very state that it stands on.
    let spent = 0;
    for (const { kind } of entries) {
      expect(kind).toBe(spent + AMOUNT <= CAP ? 'commit' : 'rejection');
      if (kind === 'commit') spent += AMOUNT;
    }
    const live = (await runtimeOver(store, [budget]).open('t')).state() as {
      spent: Record<string, number>;
    };
    expect(canonicalize(live)).toBe(state);
    expect(Object.values(live.spent).reduce((sum, amount) => sum + amount, 0)).toBe(spent);
  } finally {
    await store.close();
  }
}

describe('many processes propose to one trajectory, and each proposal is ruled on', () => {
  test.each([1, 5])('in SQLite, %i at a time', async (lanes) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-contention-'));
    try {
      await expectAllRuled(`sqlite:${join(folder, 'a.db')}`, lanes);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  withPostgres('in PostgreSQL', (postgres) => {
    test.each([1, 5])('%i at a time', (lanes) => expectAllRuled(postgres.url(), lanes));
  });
});
