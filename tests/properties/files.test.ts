import { rmSync } from 'node:fs';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#effects';
import { type Disk, fileScope, fileTools } from '#tools/files';
import { cases, hasUsualCases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { type Listing, listing, newFolder } from '../support/tools/files-stage.ts';

// Random operations in transactions, some of them refused, compared with files in a map. In each
// transaction a disk step may fail, or succeed with a lost answer. The test reads the disk without
// the tools.

/**
 * Files as strings by path, and folders with `/`: the result of an operation, or undefined if it is
 * impossible.
 */
function naive(files: Listing, name: string, input: any): Listing | undefined {
  const above = (path: string): string[] =>
    path
      .split('/')
      .slice(0, -1)
      .map((_, i, all) => all.slice(0, i + 1).join('/'));
  const isFree = (path: string): boolean =>
    files[`${path}/`] === undefined && above(path).every((each) => files[each] === undefined);
  const made = (path: string): Listing =>
    Object.fromEntries(above(path).map((each) => [`${each}/`, '']));
  const without = (path: string): Listing =>
    Object.fromEntries(Object.entries(files).filter(([each]) => each !== path));
  const { path = input.from, to } = input;
  const now = files[path];
  if (!isFree(path)) return undefined;
  switch (name) {
    case 'files.write':
      return {
        ...files,
        ...made(path),
        [path]: `${(input.mode ?? Number.parseInt(now ?? '644', 8)).toString(8)} ${input.content}`,
      };
    case 'files.delete':
      return now === undefined ? undefined : without(path);
    case 'files.edit': {
      const [mode, text] = now === undefined ? [] : [now.slice(0, 3), now.slice(4)];
      const { old, new: instead } = input.edits[0];
      return text?.split(old).length === 2
        ? { ...files, [path]: `${mode} ${text.replace(old, () => instead)}` }
        : undefined;
    }
    default:
      if (now === undefined || !isFree(to) || files[to] !== undefined || to.startsWith(`${path}/`))
        return undefined;
      return { ...without(path), ...made(to), [to]: now };
  }
}

const PATH = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/a', 'a/x', 'd', 'd/e');
const TEXT = fc.constantFrom('', 'x', 'xy', 'xyx', '$&');
const OPERATION = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant('files.write'),
      input: fc.record(
        { path: PATH, content: TEXT, mode: fc.constantFrom(0o644, 0o600) },
        { requiredKeys: ['path', 'content'] },
      ),
    }),
  },
  fc.record({
    name: fc.constant('files.edit'),
    input: fc.record({
      path: PATH,
      edits: fc.tuple(fc.record({ old: fc.constantFrom('x', 'y'), new: TEXT })),
    }),
  }),
  fc.record({ name: fc.constant('files.delete'), input: fc.record({ path: PATH }) }),
  fc.record({
    name: fc.constant('files.move'),
    input: fc.record({ from: PATH, to: PATH }).filter(({ from, to }) => from !== to),
  }),
);
const FAULT = fc.record({
  at: fc.nat(60),
  how: fc.constantFrom('fails' as const, 'is_lost' as const),
});
const TRANSACTION = fc.record({
  operations: fc.array(OPERATION, { minLength: 1, maxLength: 6 }),
  args: fc.constantFrom('order', 'order', 'forbidden'),
  fault: fc.option(FAULT, { nil: undefined }),
});

/** One step of the disk goes wrong. */
class FaultyDisk {
  fault: { at: number; how: 'fails' | 'is_lost' } | undefined;

  readonly around = (disk: Disk): Disk =>
    new Proxy(disk, {
      get:
        (target, name) =>
        async (...args: unknown[]) => {
          const member = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
          const isNow =
            !READS.has(String(name)) && this.fault !== undefined && this.fault.at-- === 0;
          if (isNow && this.fault!.how === 'fails') throw new Error('the disk failed');
          const answer = await Reflect.apply(member, target, args);
          if (isNow) {
            // A lost answer of `hold` loses no handle.
            if (name === 'lock') (answer as Disposable)[Symbol.dispose]();
            throw new Error('the disk failed when it was done');
          }
          return answer;
        },
    });
}

const READS: ReadonlySet<string> = new Set(['look', 'idOf', 'names']);

describe.each<Delivery>(['buffered', 'externalised'])('files that are changed %s', (delivery) => {
  test('are as a map of files says after each transaction, or as before it', async () => {
    const seen = { committed: 0, undone: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(TRANSACTION, { minLength: 1, maxLength: 4 }),
        async (transactions) => {
          const root = newFolder();
          const faulty = new FaultyDisk();
          const assize = runtimeOver(new MemoryStore(), [tally], {
            tools: fileTools({ root, delivery, disk: faulty.around }),
          });
          const trajectory = await assize.create(tally, { trajectoryId: 't' });
          const writes = [fileScope(root, '.'), fileScope(root, '.', true)];
          let files: Listing = {};
          for (const { operations, args, fault } of transactions) {
            let planned = files;
            faulty.fault = fault && { ...fault };
            const done = await trajectory
              .transaction({ writ: writFor('alice'), writes, retries: 0 }, async (tx) => {
                for (const { name, input } of operations) {
                  const next = naive(planned, name, input);
                  const refusal = await tx.call(name, input).then(
                    () => undefined,
                    (error: unknown) => error as { code: string },
                  );
                  // Only an immediate effect meets the disk fault here, and then the whole
                  // transaction is aborted.
                  if (refusal !== undefined && next !== undefined) throw refusal;
                  if (next === undefined) {
                    expect([name, input, refusal?.code]).toEqual([name, input, 'tool_failed']);
                    seen.refused++;
                  }
                  planned = next ?? planned;
                }
                tx.propose({ action: 'count', role: 'counter', args });
              })
              .catch((error: { code?: string }) => {
                expect([delivery, error.code]).toEqual(['externalised', 'tool_failed']);
                return undefined;
              });
            expect(done?.effects ?? 'settled').toBe('settled');
            const isCommitted = done?.ruling.ruling === 'committed';
            if (isCommitted) files = planned;
            seen[isCommitted ? 'committed' : 'undone']++;
            expect(listing(root)).toEqual(files);
          }
          expect(await assize.recoverEffects()).toEqual([]);
          rmSync(root, { recursive: true });
        },
      ),
      { numRuns: cases(100) },
    );
    if (hasUsualCases()) for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});
