/**
 * The Merkle log: assigned and stored positions, compared with bare hashing of the same leaves;
 * proofs, and reading an export.
 */
import { createHash } from 'node:crypto';
import { openStore } from 'assize';
import { exportLines, readExport } from '#export';
import { askNodes, integrateLog, logHead } from '#ledger';
import { Frontier, inclusionProof, leafHash, verifyInclusion } from '#merkle';
import { writeLedger } from './ledger.ts';
import { type BenchResult, compare, formatTable, keep, median } from './measure.ts';

const COMMITS = 30_000;

export async function logBench(): Promise<BenchResult[]> {
  const file = await writeLedger(COMMITS);
  try {
    const store = await openStore(file.url);
    const payloads = (await store.entries(file.trajectoryId, { limit: file.entries })).map(
      ({ payload }) => payload,
    );
    const hashed = bareRate(payloads);
    const start = performance.now();
    const size = await integrateLog(store);
    const rate = (size / (performance.now() - start)) * 1_000;
    const results: BenchResult[] = [
      {
        name: 'entries given their places in the log, kept',
        value: rate,
        unit: '/s',
        baseline: { name: 'RFC 6962 hashing alone', value: hashed },
        ratio: rate / hashed,
      },
    ];
    const { root } = await logHead(store);
    const leaf = leafHash(payloads[7] as string);
    const proof = await askNodes(store, (read) => inclusionProof(7, size, read));
    const rates = await compare([
      {
        name: 'inclusion proof from the store',
        run: async (count) => {
          for (let i = 0; i < count; i++)
            keep(await askNodes(store, (read) => inclusionProof((i * 7_919) % size, size, read)));
        },
      },
      {
        name: 'verify an inclusion proof',
        run: (count) => {
          for (let i = 0; i < count; i++)
            keep(verifyInclusion({ index: 7, size, leafHash: leaf, root }, proof));
        },
      },
    ]);
    results.push(...rates.map(({ name, perSecond }) => ({ name, value: perSecond, unit: '/s' })));
    const written = performance.now();
    const lines: string[] = [];
    for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
    const read = performance.now();
    for await (const entry of readExport(fromList(lines))) keep(entry);
    const done = performance.now();
    results.push(
      { name: 'export', value: (size / (read - written)) * 1_000, unit: '/s' },
      { name: 'read and check an export', value: (size / (done - read)) * 1_000, unit: '/s' },
    );
    await store.close();
    return results;
  } finally {
    file.remove();
  }
}

/** Two hashes per entry, and nothing stored. */
function bareRate(payloads: readonly string[]): number {
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    const frontier = new Frontier();
    for (const payload of payloads)
      frontier.append([createHash('sha256').update('\u0000').update(payload).digest()]);
    keep(frontier.root());
    return (payloads.length / (performance.now() - start)) * 1_000;
  });
  return median(rounds);
}

async function* fromList(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

if (import.meta.main) console.log(formatTable(await logBench()));
