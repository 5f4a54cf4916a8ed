/**
 * Judging in two other threads beside judging in one, at 64 callers on one SQLite trajectory: where a proposal's code takes a
 * millisecond, a tenth of one, and next to nothing; and the shop of the other benchmarks. The ratio is what the option gives.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, type Domain, generateKeys, openStore, type ProposalInput, type Trajectory } from 'assize';
import { cheap, costly, membersState, middling } from './costly.ts';
import { type BenchResult, type Contender, compare, formatTable, rateResult } from './measure.ts';
import { benchWrit, shop, shopState, visit } from './shop.ts';

const CALLERS = 64;
const MEMBERS = 1_000;
const WORKERS = 2;
/** For what is not measured in rounds. */
const PROPOSALS = 1_000;

interface Workload {
  readonly name: string;
  readonly domain: Domain;
  readonly module: URL;
  readonly export: string;
  readonly initial: unknown;
  readonly propose: (i: number) => Omit<ProposalInput, 'writ'>;
}

const own = { module: new URL('./costly.ts', import.meta.url), initial: membersState(MEMBERS), propose: task };
const WORKLOADS: readonly Workload[] = [
  { name: '1 ms a proposal', domain: costly, export: 'costly', ...own },
  { name: '0.1 ms a proposal', domain: middling, export: 'middling', ...own },
  { name: 'next to nothing a proposal', domain: cheap, export: 'cheap', ...own },
  {
    name: 'the shop',
    domain: shop as Domain,
    module: new URL('./shop.ts', import.meta.url),
    export: 'shop',
    initial: shopState(MEMBERS),
    propose: (i) => visit(i, MEMBERS),
  },
];

export async function parallelBench(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const workload of WORKLOADS) results.push(...(await measure(workload)));
  return results;
}

async function measure(workload: Workload): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const [alone, parallel] = [
    await open(workload, folder, 'alone', 0),
    await open(workload, folder, 'parallel', WORKERS),
  ];
  try {
    const [baseline, rate] = await compare([alone, parallel], { rounds: 9, roundMs: 500 });
    const name = `${WORKERS} threads, ${workload.name}`;
    const result = rateResult({ ...rate!, name }, baseline!);
    const [before, value] = [await microsHere(alone), await microsHere(parallel)];
    return [
      workload.domain === costly ? { ...result, goal: { ratioMin: 1.3 } } : result,
      {
        name: `${name}: of the thread that rules`,
        value,
        unit: 'µs',
        baseline: { name: alone.name, value: before },
        ratio: value / before,
      },
    ];
  } finally {
    await alone.close();
    await parallel.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Processor time of this thread for a proposal: what bounds the rate with processors to spare, whatever else they do. */
async function microsHere({ run }: Contender): Promise<number> {
  const start = process.threadCpuUsage();
  await run(PROPOSALS);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / PROPOSALS;
}

async function open(
  { domain, module, initial, propose, ...workload }: Workload,
  folder: string,
  name: string,
  workers: number,
) {
  const store = await openStore(`sqlite:${join(folder, `${name}.db`)}`);
  const keys = generateKeys();
  const parallel = workers === 0 ? {} : { parallel: { workers, module, export: workload.export } };
  const assize = new Assize({ store, domains: [domain], anchors: [keys.publicKey], ...parallel });
  const writ = benchWrit(keys, 't', ['**'], ['**']);
  const trajectory: Trajectory = await assize.create(domain, { trajectoryId: 't', initial, writs: [writ] });
  let n = 0;
  return {
    name: workers === 0 ? 'one after the other' : `${workers} threads`,
    run: async (count: number) => {
      let left = count;
      const caller = async (): Promise<void> => {
        while (left-- > 0) {
          const { ruling } = await trajectory.propose({ ...propose(n++), writ });
          if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
    },
    close: async () => {
      await assize.close();
      await store.close();
    },
  };
}

/** Spread over the members. */
function task(i: number): Omit<ProposalInput, 'writ'> {
  return {
    action: 'work',
    role: { name: 'worker', params: { member: `m${(i * 7919) % MEMBERS}` } },
    args: { seed: i },
  };
}

if (import.meta.main) console.log(formatTable(await parallelBench()));
