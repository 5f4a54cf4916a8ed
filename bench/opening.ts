/**
 * Opening a trajectory of 100,000 commits from a snapshot, compared with a replay. Each opening
 * uses a newly opened store in a separate process, as after a start.
 */
import { execFileSync } from 'node:child_process';
import { Assize, type Domain, generateKeys, openStore } from 'assize';
import { type LedgerFile, writeLedger } from './ledger.ts';
import { type BenchResult, formatTable, median } from './measure.ts';
import { shop } from './shop.ts';

const COMMITS = 100_000;
const ROUNDS = 7;

type Way = 'replay' | 'snapshot';

interface Opened {
  readonly ms: number;
  readonly length: number;
  readonly head: string;
}

export async function openingBench(): Promise<BenchResult[]> {
  const file = await writeLedger(COMMITS);
  try {
    await leaveSnapshot(file);
    const rounds = Array.from(
      { length: ROUNDS },
      () => [inProcess(file, 'snapshot'), inProcess(file, 'replay')] as const,
    );
    for (const [one, other] of rounds) {
      if (one.head !== other.head || one.length !== file.entries)
        throw new Error('both must open the same trajectory');
    }
    const ms = median(rounds.map(([{ ms }]) => ms));
    const baseline = { name: 'by replay', value: median(rounds.map(([, { ms }]) => ms)) };
    const ratio = median(rounds.map(([one, other]) => one.ms / other.ms));
    return [
      {
        name: 'open 100,000 commits, snapshot',
        value: ms,
        unit: 'ms',
        baseline,
        ratio,
        goal: { max: 200 },
      },
      {
        name: '  the slowest time',
        value: Math.max(...rounds.map(([{ ms: each }]) => each)),
        unit: 'ms',
      },
    ];
  } finally {
    file.remove();
  }
}

async function leaveSnapshot({ url, trajectoryId }: LedgerFile): Promise<void> {
  const store = await openStore(url);
  const assize = runtimeOver(store, 'snapshot');
  await assize.open(trajectoryId);
  await assize.close();
  if ((await store.snapshot(trajectoryId)) === undefined) throw new Error('no snapshot was left');
  await store.close();
}

function inProcess({ url, trajectoryId }: LedgerFile, way: Way): Opened {
  return JSON.parse(
    execFileSync(process.execPath, [import.meta.filename, url, trajectoryId, way], {
      encoding: 'utf8',
    }),
  ) as Opened;
}

async function open(url: string, trajectoryId: string, way: Way): Promise<Opened> {
  const start = performance.now();
  const store = await openStore(url, { mode: 'readonly' });
  const trajectory = await runtimeOver(store, way).open(trajectoryId);
  const ms = performance.now() - start;
  const { length, head } = trajectory;
  await store.close();
  return { ms, length, head };
}

function runtimeOver(store: Awaited<ReturnType<typeof openStore>>, way: Way): Assize {
  const anchors = [generateKeys().publicKey];
  return new Assize({
    store,
    domains: [shop as Domain],
    anchors,
    ...(way === 'snapshot' ? { snapshots: store } : {}),
  });
}

if (import.meta.main) {
  const [url, trajectoryId, way] = process.argv.slice(2);
  if (url === undefined) console.log(formatTable(await openingBench()));
  else console.log(JSON.stringify(await open(url, trajectoryId as string, way as Way)));
}
