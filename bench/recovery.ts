/**
 * Effects that a process left open when it ended, all adopted at the start of the next process. The
 * baseline is the same work in a process that does not end. An unrelated transaction runs beside.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, defineDomain, generateKeys, openStore, type Trajectory } from 'assize';
import { z } from 'zod';
import { declareTool, type Tool } from '#effects';
import { type BenchResult, formatTable } from './measure.ts';
import { benchWrit } from './shop.ts';

const OPEN = 2_000;
const keys = generateKeys(new Uint8Array(32).fill(5));
const writ = benchWrit(keys, 't', ['**'], ['**']);

const letters = defineDomain({
  name: 'bench-letters',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ written: z.int(), last: z.string() }),
  initial: { written: 0, last: '' },
  processes: { writing: { writes: ['/written', '/last'] } },
  roles: { writer: { processes: ['writing'] } },
  actions: {
    write: {
      process: 'writing',
      args: z.strictObject({ to: z.string() }),
      apply: (state, { to }) => {
        state.written += 1;
        state.last = to;
      },
    },
  },
  invariants: [],
});

function sending(execute: () => unknown): Tool {
  return declareTool({
    name: 'send',
    input: z.strictObject({ member: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bench:{member}'],
    execute,
    compensate: () => ({ undone: 'all' }),
  });
}

async function opened(url: string, tool: Tool) {
  const store = await openStore(url);
  const assize = new Assize({
    store,
    domains: [letters],
    anchors: [keys.publicKey],
    tools: [tool],
  });
  return { store, assize };
}

async function transact(trajectory: Trajectory, n: number): Promise<void> {
  await trajectory.transaction({ writ, writes: [`bench:${n}`] }, async (tx) => {
    await tx.call('send', { member: `${n}` });
    tx.propose({ action: 'write', role: 'writer', args: { to: `${n}` } });
  });
}

const create = (assize: Assize): Promise<Trajectory> =>
  assize.create(letters, { trajectoryId: 't', writs: [writ] }) as Promise<never>;

/** Ends this process once that many calls hang. */
async function leaveOpen(url: string): Promise<never> {
  let calls = 0;
  const all = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    if (++calls === OPEN) all.resolve();
    return new Promise(() => undefined);
  };
  const { assize } = await opened(url, sending(hang));
  const trajectory = await create(assize);
  const awake = setInterval(() => undefined, 1_000);
  for (let n = 0; n < OPEN; n++) transact(trajectory, n).catch(all.reject);
  await all.promise;
  clearInterval(awake);
  process.exit(0);
}

export async function recoveryBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const url = `sqlite:${join(folder, 'left.db')}`;
  try {
    execFileSync(process.execPath, [import.meta.filename, url]);
    const running = await opened(
      `sqlite:${join(folder, 'running.db')}`,
      sending(() => null),
    );
    const trajectory = await create(running.assize);
    const inOne = await timed(() =>
      Promise.all(Array.from({ length: OPEN }, (_, n) => transact(trajectory, n))),
    );
    const alone = await timed(() => transact(trajectory, OPEN));
    const next = await opened(
      url,
      sending(() => null),
    );
    const left = await next.assize.open('t');
    let unrelated = 0;
    const all = await timed(async () => {
      const recovered = next.assize.recoverEffects();
      unrelated = await timed(() => transact(left, OPEN + 1));
      await recovered;
    });
    const count = OPEN.toLocaleString('en');
    const result = (
      name: string,
      value: number,
      baseline: { name: string; value: number },
    ): BenchResult => ({
      name,
      value,
      unit: 'ms',
      baseline,
      ratio: value / baseline.value,
    });
    const results = [
      result(`recover ${count} open effects`, all, {
        name: 'the transactions in a process that goes on',
        value: inOne,
      }),
      result('  an unrelated transaction meanwhile', unrelated, { name: 'alone', value: alone }),
    ];
    for (const { assize, store } of [running, next]) {
      await assize.close();
      await store.close();
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

if (import.meta.main) {
  const [url] = process.argv.slice(2);
  if (url === undefined) console.log(formatTable(await recoveryBench()));
  else await leaveOpen(url);
}
