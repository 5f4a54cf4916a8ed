/**
 * A ledger of a million entries: its size on disk, the time to verify it, and the memory used. A
 * separate process measures each value, next to a process that only reads, parses and hashes. A
 * ledger of a tenth of the size is the comparison: memory must not grow with the length.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { openStore, verifyStore } from 'assize';
import { type LedgerFile, writeLedger } from './ledger.ts';
import { type BenchResult, formatTable, median } from './measure.ts';
import { readParseHash } from './verify.ts';

const COMMITS = 1_000_000;
const MEMORY_MAX_MB = 400;
const ROUNDS = 3;

/** The task of one process: verify on that many threads, or only read, parse and hash. */
type Work = 'bare' | '1' | '2';

interface Measured {
  readonly perSecond: number;
  readonly peakMb: number;
}

export async function millionBench(): Promise<BenchResult[]> {
  const small = await writeLedger(COMMITS / 10);
  const large = await writeLedger(COMMITS);
  try {
    return [sizeOf(large), ...timesOf(small, large)];
  } finally {
    small.remove();
    large.remove();
  }
}

function sizeOf({ path, entries }: LedgerFile): BenchResult {
  return {
    name: '1,000,000 entries: file, an entry',
    value: statSync(path).size / entries,
    unit: 'B',
  };
}

function timesOf(small: LedgerFile, large: LedgerFile): BenchResult[] {
  const rounds = Array.from({ length: ROUNDS }, () => ({
    bare: inProcess(large, 'bare'),
    1: inProcess(large, '1'),
    2: inProcess(large, '2'),
  }));
  return ([1, 2] as const).flatMap((threads) => {
    const rate = median(rounds.map((round) => round[threads].perSecond));
    const peak = Math.max(...rounds.map((round) => round[threads].peakMb));
    const before = inProcess(small, `${threads}`).peakMb;
    const name = `1,000,000 entries, ${threads} thread${threads > 1 ? 's' : ''}`;
    return [
      {
        name: `${name}: verify`,
        value: rate,
        unit: '/s',
        baseline: {
          name: 'read, JSON.parse, hash',
          value: median(rounds.map(({ bare }) => bare.perSecond)),
        },
        ratio: median(rounds.map((round) => round[threads].perSecond / round.bare.perSecond)),
        goal: { min: threads === 1 ? 80_000 : 150_000 },
      },
      {
        name: `${name}: most memory`,
        value: peak,
        unit: 'MB',
        baseline: { name: '100,000 entries', value: before },
        ratio: peak / before,
        goal: { max: MEMORY_MAX_MB },
      },
    ];
  });
}

function inProcess({ url, trajectoryId, entries }: LedgerFile, work: Work): Measured {
  const args = [import.meta.filename, url, trajectoryId, String(entries), work];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Measured;
}

async function measure(
  url: string,
  trajectoryId: string,
  entries: number,
  work: Work,
): Promise<Measured> {
  const store = await openStore(url, { mode: 'readonly' });
  const start = performance.now();
  if (work === 'bare') await readParseHash(store, trajectoryId);
  else {
    const [report] = await verifyStore(store, { threads: Number(work) });
    if (report?.valid !== true || report.entries !== entries)
      throw new Error('the ledger must verify');
  }
  const perSecond = (entries / (performance.now() - start)) * 1_000;
  await store.close();
  return { perSecond, peakMb: process.resourceUsage().maxRSS / 1_024 };
}

if (import.meta.main) {
  const [url, trajectoryId, entries, work] = process.argv.slice(2);
  if (url === undefined) console.log(formatTable(await millionBench()));
  else
    console.log(
      JSON.stringify(await measure(url, trajectoryId as string, Number(entries), work as Work)),
    );
}
