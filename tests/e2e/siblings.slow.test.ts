/**
 * Attack 22 with processes: siblings that each take 60 % of one budget concurrently, from four
 * processes over one store.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import type { DelegationPayload } from '#ledger';
import { verifyStore } from '#runtime';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { deskOf, payloads } from '../support/ledger/desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { GRANT, granted, SHARE, SIBLINGS } from '../support/ledger/sibling-writs.ts';
import { withPostgres } from '../support/postgres/index.ts';

const SIBLING = await bundled(join(import.meta.dirname, 'sibling.ts'));
const PROCESSES = 4;

async function takeTogether(url: string, what: string): Promise<string[]> {
  const children = Array.from({ length: PROCESSES }, (_, n) => {
    const args = [SIBLING, url, what, `${n}`, `${PROCESSES}`, `${SIBLINGS}`];
    return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  });
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

async function expectOneShare(url: string, what: 'spend' | 'delegate'): Promise<void> {
  const store = await openStore(url);
  try {
    await runtimeOver(store, [deskOf()]).create(deskOf(), { trajectoryId: 't', writs: [granted] });
    const told = await takeTogether(url, what);
    const won = what === 'spend' ? 'committed' : 'delegated';
    expect(told.toSorted()).toEqual(
      [...Array(SIBLINGS - 1).fill('budget_exhausted'), won].toSorted(),
    );
    let taken = 0;
    for (const payload of await payloads(store, 't')) {
      if (payload.kind === 'commit') taken += payload.budget_cost['usd'] ?? 0;
      else if (payload.kind === 'delegation') taken += budgetOf(payload);
      expect(taken).toBeLessThanOrEqual(GRANT);
    }
    expect(taken).toBe(SHARE);
    for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
  } finally {
    await store.close();
  }
}

function budgetOf({ writ }: DelegationPayload): number {
  return (writ as unknown as typeof granted).budget?.['usd'] ?? 0;
}

describe('of fifty siblings in four processes one gets its share, the others none', () => {
  test.each(['spend', 'delegate'] as const)('in SQLite: %s', async (what) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-siblings-'));
    try {
      await expectOneShare(`sqlite:${join(folder, 'a.db')}`, what);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  withPostgres('in PostgreSQL', (postgres) => {
    test.each(['spend', 'delegate'] as const)('%s', (what) => expectOneShare(postgres.url(), what));
  });
});
