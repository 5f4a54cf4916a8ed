/** Runs every benchmark in sequence, and measures the machine; `--help` explains the selection. */
import { Command, InvalidArgumentError } from 'commander';
import { machineBench } from './machine.ts';
import { type BenchResult, formatTable, meetsGoal } from './measure.ts';
import { type PeerFigures, peerFigures } from './peer.ts';

const BENCHES: Readonly<Record<string, (peer?: PeerFigures) => Promise<BenchResult[]>>> = {
  canon: async () => (await import('./canon.ts')).canonBench(),
  kernel: async () => [
    ...(await (await import('./kernel.ts')).kernelBench()),
    ...(await (await import('./calls.ts')).callsBench()),
    ...(await (await import('./reservations.ts')).reservationsBench()),
    ...(await (await import('./expiry.ts')).expiryBench()),
  ],
  'code-path': async () => (await import('./code-path.ts')).codePathBench(),
  loading: async () => (await import('./loading.ts')).loadingBench(),
  writs: async () => (await import('./writs.ts')).writsBench(),
  policies: async () => (await import('./policies.ts')).policiesBench(),
  store: async () => (await import('./store.ts')).storeBench(),
  seals: async () => (await import('./seals.ts')).sealsBench(),
  postgres: async () => (await import('./postgres.ts')).postgresBench(),
  proposals: async () => (await import('./proposals.ts')).proposalsBench(),
  effects: async (peer) => (await import('./effects.ts')).effectsBench(peer),
  recovery: async () => (await import('./recovery.ts')).recoveryBench(),
  speculation: async (peer) => (await import('./speculation.ts')).speculationBench(peer),
  http: async () => (await import('./http.ts')).httpBench(),
  'round-trips': async () => (await import('./round-trips.ts')).roundTripsBench(),
  servers: async () => (await import('./servers.ts')).serversBench(),
  cells: async () => (await import('./cells.ts')).cellsBench(),
  contention: async () => (await import('./contention.ts')).contentionBench(),
  hooks: async () => (await import('./hooks.ts')).hooksBench(),
  gate: async () => (await import('./gate.ts')).gateBench(),
  frameworks: async () => (await import('./frameworks.ts')).frameworksBench(),
  traces: async () => (await import('./traces.ts')).tracesBench(),
  mcp: async () => (await import('./mcp.ts')).mcpBench(),
  verify: async () => (await import('./verify.ts')).verifyBench(),
  opening: async () => [
    ...(await (await import('./opening.ts')).openingBench()),
    ...(await (await import('./closing.ts')).closingBench()),
    ...(await (await import('./pending.ts')).pendingBench()),
  ],
  archive: async () => (await import('./archive.ts')).archiveBench(),
  blast: async () => (await import('./blast.ts')).blastBench(),
  'find-entries': async () => (await import('./find-entries.ts')).findEntriesBench(),
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
  console: async () => (await import('./console.ts')).consoleBench(),
  disclosure: async () => (await import('./disclosure.ts')).disclosureBench(),
};

interface Options {
  readonly json?: true;
  readonly only?: readonly string[];
  readonly peer?: string;
}

const command = new Command('npm run bench --')
  .description(
    `Every benchmark, one after the other, each beside a bare baseline in the same run, and how fast the machine is.
Exit status 1 when a goal is missed, 2 for bad usage.`,
  )
  .option('--json', 'for programs')
  .option(
    '--only <names>',
    `some of ${Object.keys(BENCHES).join(', ')}, with commas between`,
    named,
  )
  .option(
    '--peer <folder>',
    'those of effects, compared with a copy of the reference in Python in this folder',
  )
  .allowExcessArguments(false)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { json, only = Object.keys(BENCHES), peer: folder } = command.opts<Options>();

function named(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',');
  if (names.every((name) => Object.hasOwn(BENCHES, name))) return [...before, ...names];
  throw new InvalidArgumentError(`There are ${Object.keys(BENCHES).join(', ')}.`);
}

let peer: PeerFigures | undefined;
try {
  peer = folder === undefined ? undefined : await peerFigures(folder);
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

const all: Record<string, BenchResult[]> = { machine: await machineBench() };
for (const name of only) {
  if (!json) console.error(`… ${name}`);
  all[name] = await BENCHES[name]!(peer);
}
const missed = Object.values(all)
  .flat()
  .filter((result) => !meetsGoal(result));
console.log(
  json
    ? JSON.stringify({
        node: process.version,
        results: all,
        missed: missed.map(({ name }) => name),
      })
    : formatTable(Object.values(all).flat()),
);
process.exitCode = missed.length === 0 ? 0 : 1;
