import { expect } from 'vitest';
import type { LedgerStore } from '#ledger';
import { seededRandom } from '#oracle';
import type { Assize, AssizeOptions, Ruling, Trajectory } from '#runtime';
import type { Store } from '#stores';
import { allEntries, type DeskState, desk, soundState } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const worker = writFor('agent');
let processes = 0;

/** A runtime as another process has it. */
export function processOver(store: LedgerStore, options: Partial<AssizeOptions> = {}): Assize {
  return runtimeOver(store, [desk], {
    ...options,
    ports: { random: seededRandom(`process ${++processes}`), ...options.ports },
  });
}

export function begun(
  store: LedgerStore,
  options: Partial<AssizeOptions> = {},
): Promise<Trajectory> {
  return processOver(store, options).create(desk, { trajectoryId: 't', writs: [worker] });
}

/** Asks for one entry of about that many bytes, by a key under which it may be asked again. */
export function file(trajectory: Trajectory, paper: string, bytes = 0): Promise<Ruling> {
  const args = { paper: paper.padEnd(bytes, '.') };
  const role = { name: 'filer', params: { box: 'in' } };
  return trajectory.propose(intent('put', args, worker, { role, idempotencyKey: paper }));
}

/** The results that callers received: entries by request, and errors. */
export class CallerReport {
  readonly answered: Map<string, string> = new Map();
  readonly errors: unknown[] = [];

  /** Keeps what becomes of it. */
  async hear(paper: string, asked: Promise<Ruling>): Promise<void> {
    try {
      const ruling = await asked;
      if (ruling.ruling !== 'committed') throw new Error(`${paper} was ${ruling.ruling}`);
      const before = this.answered.get(paper) ?? ruling.entry.id;
      // A repeated request gets the same entry.
      expect(ruling.entry.id).toBe(before);
      this.answered.set(paper, ruling.entry.id);
    } catch (error) {
      this.errors.push(error);
    }
  }

  /** Checks the errors since its last call: typed, with advice. */
  expectErrors(codes: readonly string[], advice: RegExp): void {
    for (const error of this.errors.splice(0)) {
      expect(error).toMatchObject({ name: expect.stringMatching(/^(Store|Runtime)Error$/) });
      expect(codes).toContain((error as { code: string }).code);
      expect((error as Error).message).toMatch(advice);
    }
  }
}

/**
 * Nothing lost: every answered entry exists. Nothing doubled: every paper is in the box once, by
 * one entry.
 */
export async function expectOnce(
  store: Store,
  told: CallerReport,
  papers: readonly string[],
): Promise<void> {
  const rows = await allEntries(store, 't');
  const ids = new Set(rows.map(({ id }) => id));
  expect([...told.answered.values()].filter((id) => !ids.has(id))).toEqual([]);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => n));
  const { boxes } = JSON.parse(await soundState(store, 't')) as DeskState;
  expect((boxes['in'] ?? []).map((paper) => paper.replace(/\.+$/, '')).toSorted()).toEqual(
    [...papers].sort(),
  );
  expect(rows).toHaveLength(papers.length + 1);
}

export const papersOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `paper ${n}`);
