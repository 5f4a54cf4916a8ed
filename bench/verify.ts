/**
 * Verification compared with the minimum cost of reading a ledger: rows read, parsed and hashed.
 */
import { type EntryRow, openStore, type Store, verifyStore } from 'assize';
import { entryRow } from 'assize/internal/ledger';
import { generateKeys, hashText, signText, verifyText } from '#canon';
import { checkRow, type Payload } from '#ledger';
import { type LedgerFile, writeLedger } from './ledger.ts';
import { type BenchResult, compare, formatTable, keep, median, rateResult } from './measure.ts';

const COMMITS = 300_000;
const ROUNDS = 3;

export async function verifyBench(): Promise<BenchResult[]> {
  const file = await writeLedger(COMMITS);
  try {
    const store = await openStore(file.url, { mode: 'readonly' });
    const [row] = (await store.entries(file.trajectoryId, { from: 10, limit: 1 })) as [EntryRow];
    const results = await verifyRates(store, file);
    await store.close();
    return [
      ...results,
      { name: '  bytes an entry', value: Buffer.byteLength(row.payload), unit: 'B' },
      ...(await signedRates(row)),
    ];
  } finally {
    file.remove();
  }
}

async function verifyRates(store: Store, file: LedgerFile): Promise<BenchResult[]> {
  const bare: number[] = [];
  const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
  for (let round = -1; round < ROUNDS; round++) {
    const base = await perSecond(file.entries, () => readParseHash(store, file.trajectoryId));
    if (round >= 0) bare.push(base);
    for (const threads of [1, 2] as const) {
      const rate = await perSecond(file.entries, async () => {
        const [report] = await verifyStore(store, { threads });
        if (report?.valid !== true || report.entries !== file.entries)
          throw new Error('the ledger must verify');
      });
      if (round >= 0) rates[threads].push(rate);
    }
  }
  return ([1, 2] as const).map((threads) => ({
    name: `verify ${COMMITS.toLocaleString('en-US')} unsigned, ${threads} thread${threads > 1 ? 's' : ''}`,
    value: median(rates[threads]),
    unit: '/s',
    baseline: { name: 'read, JSON.parse, hash', value: median(bare) },
    ratio: median(rates[threads].map((rate, i) => rate / (bare[i] as number))),
    goal: { min: threads === 1 ? 80_000 : 150_000 },
  }));
}

export async function readParseHash(store: Store, trajectoryId: string): Promise<void> {
  for (let from = 0; ; from += 2_000) {
    const rows = await store.entries(trajectoryId, { from, limit: 2_000 });
    for (const { payload } of rows) {
      keep(JSON.parse(payload));
      keep(hashText(payload));
    }
    if (rows.length < 2_000) return;
  }
}

/** The cost of signing an entry, and of checking a signed one, compared with the bare signature. */
async function signedRates(row: EntryRow): Promise<BenchResult[]> {
  const keys = generateKeys();
  const payload = JSON.parse(row.payload) as Payload;
  const signed = entryRow(payload, keys);
  const signature = signText('entry', row.payload, keys.privateKey);
  const times =
    (operation: () => unknown) =>
    (count: number): void => {
      for (let i = 0; i < count; i++) keep(operation());
    };
  const [make, bareSign, check, bareVerify] = await compare(
    [
      { name: 'make a signed entry', run: times(() => entryRow(payload, keys)) },
      { name: 'Ed25519 sign', run: times(() => signText('entry', row.payload, keys.privateKey)) },
      { name: 'check a signed entry', run: times(() => checkRow(signed)) },
      {
        name: 'Ed25519 verify',
        run: times(() => verifyText('entry', row.payload, signature, keys.publicKey)),
      },
    ],
    { rounds: 7 },
  );
  return [rateResult(make!, bareSign!), rateResult(check!, bareVerify!)];
}

async function perSecond(count: number, run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return (count / (performance.now() - start)) * 1_000;
}

if (import.meta.main) console.log(formatTable(await verifyBench()));
