import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DidNothing, declareTool, type Sink } from 'assize/internal/effects';
import { defineDomain } from 'assize/internal/kernel';
import { openSqlite } from 'assize/internal/stores';
import { afterEach, beforeEach, expect } from 'vitest';
import { z } from 'zod';
import {
  operator,
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../../../tests/support/process/command.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../../tests/support/tools/orders.ts';

const root = join(import.meta.dirname, '../../../../..');

/** Orders. One that waits freezes what it would change, and nothing else. */
export const wide = defineDomain<any, any>({
  ...(orders.declared as any),
  name: 'wide',
  freeze: 'footprint',
});

/** The sent letters are files of this folder. The process decides the answers of the sink. */
export function mail(sink: Sink, execute: (to: string) => unknown) {
  return declareTool({
    name: 'mail.send',
    input: z.strictObject({ to: z.string(), text: z.string().optional() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink },
    writes: ['mail:{to}'],
    execute: ({ to }) => execute(to),
  });
}

/**
 * `assize effects` in a separate folder for each test of a file, with unresolved effects in its
 * store on request. Call this once per file.
 */
export function inEffectsFolder() {
  let folder: string;
  let url: string;

  // Inside the repository, so that `assize` is this package.
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'dist-effects-'));
    mkdirSync(join(folder, 'sent'));
    url = `sqlite:${join(folder, 'world.db')}`;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A decision has the writ of an operator, unless it names other authority. */
  const assize = (...args: string[]) =>
    runCommand(
      folder,
      url,
      'effects',
      ...args,
      ...(args[0] === 'resolve' && isPlain(args) ? decides() : []),
    );

  const isPlain = (args: readonly string[]): boolean =>
    args.includes('--by') && !['--writ', '--domain'].some((option) => args.includes(option));

  function decides(by: string = 'ops'): string[] {
    const [writ, anchors] = [join(folder, `${by}.json`), join(folder, 'anchors.json')];
    writeFileSync(writ, JSON.stringify(operatorWrit(by)));
    writeFileSync(anchors, JSON.stringify([operator.publicKey]));
    return ['--writ', writ, '--anchors', anchors];
  }

  async function json(code: number, ...args: string[]): Promise<any> {
    const ended = await assize(...args, '--json');
    expect(ended.code, ended.err).toBe(code);
    return JSON.parse(ended.out);
  }

  const sent = (to: string): boolean => existsSync(join(folder, 'sent', to));

  const send = (to: string): void => writeFileSync(join(folder, 'sent', to), to);

  /** Tools for the command line, in a file. */
  function toolsFile(sink: Sink): string {
    const text = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTool } from 'assize/effects';
import { z } from 'zod';

export default [
  declareTool({
    name: 'mail.send',
    input: z.strictObject({ to: z.string(), text: z.string().optional() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: '${sink}' },
    writes: ['mail:{to}'],
    execute: ({ to }) => appendFileSync(join(import.meta.dirname, 'sent', to), to),
  }),
];
`;
    const path = join(folder, 'tools.ts');
    writeFileSync(path, text);
    return path;
  }

  /** A store in which a letter was to be sent, by a process that has ended since. */
  async function written(tool: ReturnType<typeof mail>, ended?: Promise<void>): Promise<void> {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    try {
      const worker = runtimeOver(store, [tally], { tools: [tool] });
      const trajectory = await worker.create(tally, { trajectoryId: 'orders' });
      const done = trajectory.transaction(
        { writ: writFor('alice'), writes: ['mail:**'], name: 'order-1' },
        async (tx) => {
          await tx.call('mail.send', { to: 'bob' });
          tx.propose({ action: 'count', role: 'counter', args: 'order' });
        },
      );
      // A process that ends leaves its runtime as it is.
      await Promise.race([
        done.then(() => worker.close()),
        ...(ended === undefined ? [] : [ended]),
      ]);
    } finally {
      await store.close();
    }
  }

  /** In doubt: the line went dead, before or after. */
  const inDoubt = (happens: boolean): Promise<void> =>
    written(
      mail('blind', (to) => {
        if (happens) send(to);
        throw new Error('the line went dead');
      }),
    );

  /** Committed and not yet sent, when the process ended. */
  async function crashed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const tool = mail('keyed', () => {
      resolve();
      return new Promise(() => undefined);
    });
    await written(tool, promise);
  }

  /**
   * Permanently refused and compensated. The process ended before its `onFailure` action was in the
   * ledger.
   */
  async function failed(): Promise<void> {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      if (batch.entries.some(({ payload }) => payload.includes('"no o1"')))
        throw new Error('the disk is full');
      return commit(batch);
    };
    try {
      const refusing = mail('keyed', () => {
        throw new DidNothing('nobody lives there', { final: true });
      });
      const worker = runtimeOver(store, [orders], { tools: [refusing] });
      const trajectory = await worker.create(orders, { trajectoryId: 'orders' });
      const done = trajectory.transaction(
        { writ: writFor('alice'), writes: ['mail:**'] },
        async (tx) => {
          await tx.call('mail.send', { to: 'bob' });
          tx.propose({ action: 'order', role: 'counter', args: 'o1' });
        },
      );
      await expect(done).rejects.toThrow('the disk is full');
      await worker.close();
    } finally {
      await store.close();
    }
  }

  return {
    /** Of the test that is running. */
    get folder(): string {
      return folder;
    },
    /** Of the store in it. */
    get url(): string {
      return url;
    },
    assize,
    /** The authority of an operator, for a command that another function runs. */
    decides,
    json,
    sent,
    send,
    toolsFile,
    written,
    inDoubt,
    crashed,
    failed,
  };
}
