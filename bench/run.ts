/**
 * Every benchmark, one after the other, and how fast the machine is. `--json` for programs, `--only NAME` for one, `--peer FOLDER` for those of effects beside the
 * reference in Python of which that is a copy; exit 1 when a goal is missed.
 */
import { parseArgs } from 'node:util';
import { machineBench } from './machine.ts';
import { type BenchResult, formatTable, meetsGoal } from './measure.ts';
import { type PeerFigures, peerFigures } from './peer.ts';

const BENCHES: Readonly<Record<string, (peer?: PeerFigures) => Promise<BenchResult[]>>> = {
  canon: async () => (await import('./canon.ts')).canonBench(),
  kernel: async () => (await import('./kernel.ts')).kernelBench(),
  writs: async () => (await import('./writs.ts')).writsBench(),
  policies: async () => (await import('./policies.ts')).policiesBench(),
  store: async () => (await import('./store.ts')).storeBench(),
  postgres: async () => (await import('./postgres.ts')).postgresBench(),
  proposals: async () => (await import('./proposals.ts')).proposalsBench(),
  effects: async (peer) => (await import('./effects.ts')).effectsBench(peer),
  speculation: async (peer) => (await import('./speculation.ts')).speculationBench(peer),
  parallel: async () => (await import('./parallel.ts')).parallelBench(),
  contention: async () => (await import('./contention.ts')).contentionBench(),
  verify: async () => (await import('./verify.ts')).verifyBench(),
  opening: async () => (await import('./opening.ts')).openingBench(),
  million: async () => (await import('./million.ts')).millionBench(),
  facts: async () => [
    ...(await (await import('./facts.ts')).factsBench()),
    ...(await (await import('./facts-postgres.ts')).factsOnPostgres()),
  ],
  log: async () => (await import('./log.ts')).logBench(),
  memory: async () => [
    ...(await (await import('./memory.ts')).memoryBench()),
    ...(await (await import('./recall.ts')).recallBench()),
  ],
  disclosure: async () => (await import('./disclosure.ts')).disclosureBench(),
};

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    peer: { type: 'string' },
  },
});
const names = values.only ?? Object.keys(BENCHES);
const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  console.error(`There is no benchmark ${unknown}; there are ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}

let peer: PeerFigures | undefined;
try {
  peer = values.peer === undefined ? undefined : await peerFigures(values.peer);
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

const all: Record<string, BenchResult[]> = { machine: await machineBench() };
for (const name of names) {
  if (!values.json) console.error(`… ${name}`);
  all[name] = await BENCHES[name]!(peer);
}
const missed = Object.values(all)
  .flat()
  .filter((result) => !meetsGoal(result));
console.log(
  values.json
    ? JSON.stringify({ node: process.version, results: all, missed: missed.map(({ name }) => name) })
    : formatTable(Object.values(all).flat()),
);
process.exitCode = missed.length === 0 ? 0 : 1;
