import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumPath } from '#tools/browser';
import { whyNoSandbox } from '../../packages/gate/tests/reality/runner.ts';
import { hasData } from '../data.ts';
import { claudeProgram } from './claude-code/program.ts';
import { codexProgram } from './codex/program.ts';
import { hasContainerTools } from './container-tools.ts';
import { restateProgram } from './engines/restate-server.ts';
import { hasOldest } from './frameworks/versions.ts';
import { hasMastra } from './mastra/packages.ts';
import { whyNoServer } from './postgres/binaries.ts';
import { hasPatroni } from './postgres/patroni.ts';
import { pythonWithWheel } from './process/python-verifier.ts';
import { missingForSandbox } from './sandbox-runtime.ts';

/** A reason for which tests may be skipped. */
export interface MaySkip {
  readonly why: string;
  /**
   * Whether the reason holds on this machine. If not, no test may be skipped for it. Checked here,
   * and not taken from the tests.
   */
  readonly holds: () => boolean;
  /** The files of the tests. Default: all files, and `named` then selects the tests. */
  readonly files?: readonly string[];
  /** Of their full names; by default all of a file. */
  readonly named?: RegExp;
}

export interface Skipped {
  /** From the root of the project on, with slashes. */
  readonly file: string;
  readonly name: string;
}

export interface Judged {
  /** By why. */
  readonly expected: ReadonlyMap<string, readonly Skipped[]>;
  readonly unexpected: readonly Skipped[];
}

const root = join(import.meta.dirname, '../..');
const always = (): boolean => true;
const lacks = (command: string, argument: string) => (): boolean =>
  spawnSync(command, [argument]).status !== 0;
const without =
  (...sets: readonly string[]) =>
  (): boolean =>
    sets.some((set) => !hasData(...set.split('/')));

const VECTORS = ['jcs', 'ed25519.json', 'merkle-inclusion.jsonl', 'merkle-consistency.jsonl'].map(
  (each) => `vectors/${each}`,
);

/** All that there are. A skip for any other reason fails what must pass before a change lands. */
export const MAY_SKIP: readonly MaySkip[] = [
  {
    why: 'a store in memory ends with its object',
    holds: always,
    files: ['store', 'effects', 'facts', 'log', 'oracle', 'side', 'snapshot'].map(
      (what) => `packages/testing/src/memory/${what}.test.ts`,
    ),
    named: /\((nothing survives the object|nobody can open this store a second time)\)$/,
  },
  {
    why: 'a store whose calls overtake each other does not promise their order',
    holds: always,
    files: ['packages/testing/src/faulty-store.long.test.ts'],
    named:
      /\(calls overtake each other on their way, and these are sent in the order in which they have to arrive\)$/,
  },
  {
    why: 'ASSIZE_CASES is not set: it takes minutes',
    holds: () => process.env['ASSIZE_CASES'] === undefined,
    files: ['packages/assize/src/effects/protocol.slow.test.ts'],
    named: /and beside two more transactions$/,
  },
  {
    why: 'no Python here has setuptools and wheel',
    holds: () => pythonWithWheel === undefined,
    files: ['tests/e2e/python-wheel.slow.test.ts'],
  },
  {
    why: 'there is no Chromium',
    holds: () => (process.env['CHROMIUM_PATH'] ?? chromiumPath()) === undefined,
    files: [
      'labs/browser/browser-tools.long.test.ts',
      'labs/browser/submit-tool.long.test.ts',
      'packages/client/tests/browser.slow.test.ts',
      'tests/console/audit.long.test.ts',
      'tests/console/effects.long.test.ts',
      'tests/console/inbox.long.test.ts',
      'tests/console/memory.long.test.ts',
      'tests/console/timeline.long.test.ts',
      'tests/console/what-if.long.test.ts',
      'tests/docs-site.long.test.ts',
    ],
  },
  {
    why: 'there is no Chromium where the guide looks for it',
    holds: () => chromiumPath() === undefined,
    files: ['packages/tools/tests/tools-guide.long.test.ts'],
    named: /^labs\/browser\/README\.md prints/,
  },
  {
    why: 'bubblewrap does not run here',
    holds: () => whyNoSandbox() !== undefined,
    files: [
      ...[
        'reality.test.ts',
        'ceilings.long.test.ts',
        'reality.long.test.ts',
        'mutants.long.test.ts',
      ].map((name) => `packages/gate/tests/reality/${name}`),
      'packages/gate/tests/claude-code/managed.slow.test.ts',
    ],
    named: /\(absent without bubblewrap\)/,
  },
  {
    why: 'other memories are not installed (npm ci --prefix peers)',
    holds: () => !existsSync(join(root, 'peers/node_modules')),
    files: ['labs/experiments/memory/peers/peers.slow.test.ts'],
    named: /absent without npm ci --prefix peers/,
  },
  {
    why: 'MCP servers are not installed (npm ci --prefix peers)',
    holds: () =>
      !existsSync(join(root, 'peers/node_modules/@modelcontextprotocol/server-everything')),
    files: [
      'packages/gate/tests/mcp-conformance.slow.test.ts',
      'packages/gate/tests/mcp-reach.slow.test.ts',
      'packages/gate/tests/mcp-servers.slow.test.ts',
      'packages/gate/tests/sandbox.slow.test.ts',
    ],
    named: /absent without npm ci --prefix peers/,
  },
  {
    why: 'the packages of Temporal are not installed (npm ci --prefix peers)',
    holds: () => !existsSync(join(root, 'peers/node_modules/@temporalio')),
    files: ['packages/engines/tests/guide.long.test.ts'],
    named: /^Temporal \(absent without npm ci --prefix peers\)/,
  },
  {
    why: 'Restate is not installed (npm ci --prefix peers)',
    holds: () => restateProgram() === undefined,
    files: [
      'tests/crash/runs-kill.nightly.test.ts',
      'packages/engines/tests/guide.long.test.ts',
      'packages/engines/tests/restate-runs.slow.test.ts',
      'packages/engines/tests/restate.slow.test.ts',
    ],
    named: /^Restate \(absent without npm ci --prefix peers\)/,
  },
  {
    why: 'other runtimes of agents are not installed (npm ci --prefix peers)',
    holds: () =>
      !existsSync(join(root, 'peers/node_modules/@langchain/langgraph-checkpoint-sqlite')),
    files: ['packages/testing/tests/conformance-peers.long.test.ts'],
    named: /absent without npm ci --prefix peers/,
  },
  {
    why: 'Claude Code is not installed (npm ci --prefix peers)',
    holds: () => claudeProgram() === undefined,
    files: [
      'packages/gate/tests/claude-code/harness.slow.test.ts',
      'packages/gate/tests/agent-tools.slow.test.ts',
      'packages/gate/tests/claude-code/live.slow.test.ts',
      'packages/gate/tests/claude-code/managed.slow.test.ts',
      'packages/gate/tests/claude-code/day.long.test.ts',
      'packages/gate/tests/claude-code/guide.slow.test.ts',
      'packages/gate/tests/claude-code/mcp-init.slow.test.ts',
      'packages/gate/tests/claude-code/sandbox.slow.test.ts',
      'packages/gate/tests/without-server.long.test.ts',
    ],
    named: /^Claude Code \(absent without npm ci --prefix peers\)/,
  },
  {
    why: 'there is no sandbox: bubblewrap, socat, ripgrep and its runtime',
    holds: () => missingForSandbox().length > 0,
    files: [
      'packages/gate/tests/sandbox.slow.test.ts',
      'packages/gate/tests/sandbox-page.slow.test.ts',
      'packages/gate/tests/claude-code/sandbox.slow.test.ts',
      'packages/gate/tests/reality/reality.long.test.ts',
    ],
    named: /^(?:the sandbox|in the sandbox of its rules) \(absent without /,
  },
  {
    why: 'Codex is not installed (npm ci --prefix peers)',
    holds: () => codexProgram() === undefined,
    files: [
      'packages/gate/tests/codex/harness.slow.test.ts',
      'packages/gate/tests/agent-tools.slow.test.ts',
      'packages/gate/tests/codex/live.slow.test.ts',
      'packages/gate/tests/codex/guide.slow.test.ts',
      'packages/gate/tests/codex/init.slow.test.ts',
      'packages/gate/tests/codex/day.long.test.ts',
      'packages/gate/tests/codex/sandbox.slow.test.ts',
      'packages/gate/tests/without-server.long.test.ts',
    ],
    named: /^Codex \(absent without npm ci --prefix peers\)/,
  },
  {
    why: 'Mastra is not installed (npm ci --prefix peers)',
    holds: () => !hasMastra,
    files: [
      'packages/mastra/tests/answers.slow.test.ts',
      'packages/mastra/tests/guide.slow.test.ts',
      'packages/mastra/tests/mastra.slow.test.ts',
      'packages/mastra/tests/replays.slow.test.ts',
      'packages/mastra/tests/results.slow.test.ts',
      'packages/mastra/tests/types.slow.test.ts',
      'tests/e2e/examples.slow.test.ts',
      'tests/e2e/integration-packages.long.test.ts',
      'tests/e2e/package-readmes.long.test.ts',
      'tests/console/frameworks.long.test.ts',
    ],
    named: /(Mastra|mastra-agent\.ts) \(absent without npm ci --prefix peers\)/,
  },
  {
    why: 'the oldest versions of frameworks are not installed (npm ci --prefix peers/oldest)',
    holds: () => !hasOldest,
    files: ['tests/e2e/integration-packages.long.test.ts'],
    named: /^oldest versions \(absent without npm ci --prefix peers\/oldest\)/,
  },
  {
    why: 'nothing is closed to root',
    holds: () => process.getuid?.() === 0,
    files: [
      'packages/tools/src/files/file-actions.test.ts',
      'labs/experiments/tests/cli-adjudicate.slow.test.ts',
    ],
    named: /a folder that can not be written to|a file that may not be read/,
  },
  {
    why: 'only root makes a small disk, on Linux',
    holds: () => process.platform !== 'linux' || process.getuid?.() !== 0,
    files: ['tests/faults/server-disk.long.test.ts'],
    named: /on a small disk/,
  },
  {
    why: 'only root gives a file to somebody else',
    holds: () => process.getuid?.() !== 0,
    files: [
      'packages/assize/src/config/load-config.test.ts',
      'packages/assize/src/config/root-key.test.ts',
      'packages/tools/src/shell/snapshot.long.test.ts',
    ],
    named: /a file that acts for its owner|of another user/,
  },
  {
    why: 'there is no python3',
    holds: lacks('python3', '--version'),
    files: [
      'tests/console/frameworks.long.test.ts',
      'tests/e2e/bench-peer.slow.test.ts',
      'packages/testing/tests/conformance-guide.long.test.ts',
      'tests/e2e/guides.long.test.ts',
      'tests/e2e/python-client.long.test.ts',
      'tests/e2e/python-conformance.long.test.ts',
      'tests/e2e/python-verifier.slow.test.ts',
      'packages/server/tests/server-guides.long.test.ts',
      'tests/faults/store-file-gone.slow.test.ts',
      'tests/golden/golden.slow.test.ts',
    ],
    named: /python/i,
  },
  {
    why: 'only root makes a root of Debian, with debootstrap and bubblewrap',
    holds: () => !hasContainerTools,
    files: ['tests/e2e/container.nightly.test.ts'],
  },
  {
    why: 'there is no go',
    holds: lacks('go', 'version'),
    files: ['packages/server/tests/server-guides.long.test.ts'],
    named: /needs go$/,
  },
  {
    why: 'there is no openssl',
    holds: lacks('openssl', 'version'),
    files: ['packages/postgres/src/server.slow.test.ts'],
    named: /there is no openssl/,
  },
  {
    why: 'there is no PostgreSQL server here; most platforms install it with the rest',
    holds: () => whyNoServer() !== undefined,
    named: /\((the test server is started through sh|no server was installed for [^)]*)\)/,
  },
  {
    why: 'Patroni, etcd, HAProxy or PostgreSQL 15 of Debian is not installed',
    holds: () => !hasPatroni,
    files: ['tests/e2e/patroni-guide.slow.test.ts'],
    named: /^postgres\.md \(absent without Patroni, etcd, HAProxy and PostgreSQL 15 of Debian\)/,
  },
  {
    why: 'Windows has other files',
    holds: () => process.platform === 'win32',
    files: [
      'packages/assize/src/stores/sqlite/open.test.ts',
      'tests/crash/sqlite-processes.slow.test.ts',
      'packages/cli/tests/cli-signals.long.test.ts',
      'tests/faults/disk.slow.test.ts',
    ],
  },
  {
    why: 'only Linux tells what a process has open, and has folders that take no files',
    holds: () => process.platform !== 'linux',
    files: ['packages/assize/src/stores/sqlite/open.test.ts'],
    named: /a folder that takes no files|leaves no file open/,
  },
  {
    why: 'there is no script(1) of Linux',
    holds: () => process.platform !== 'linux' || !existsSync('/usr/bin/script'),
    files: [
      'packages/cli/tests/cli-points.slow.test.ts',
      'packages/cli/tests/cli-erasure.slow.test.ts',
    ],
    named: /on a terminal/,
  },
  {
    why: 'the published vectors are not there (ASSIZE_DATA)',
    holds: without(...VECTORS),
    files: [
      'packages/assize/src/canon/json/canonicalize.test.ts',
      'packages/assize/src/canon/crypto/ed25519.test.ts',
      'packages/assize/src/merkle/verify.test.ts',
    ],
  },
  {
    why: 'the sets of tau-bench are not there (ASSIZE_DATA)',
    holds: without('tau-airline', 'tau-retail', 'tau-retail/tasks.json'),
    files: [
      'examples/domains/airline/benchmark.slow.test.ts',
      'examples/domains/airline/simulate.slow.test.ts',
      'examples/domains/airline/schema.test.ts',
      'examples/domains/airline/tools.slow.test.ts',
      'examples/domains/retail/adversary.slow.test.ts',
      'examples/domains/retail/benchmark.slow.test.ts',
      'examples/domains/retail/schema.test.ts',
      'examples/domains/retail/tools.slow.test.ts',
      'labs/experiments/effects/experiments/tasks.slow.test.ts',
      'labs/experiments/effects/experiments/model-runs.test.ts',
      'labs/experiments/mining/measure-airline.test.ts',
      'labs/experiments/effects/tau/data.test.ts',
      'labs/experiments/effects/tau/service.test.ts',
      'labs/experiments/tests/airline.slow.test.ts',
      'packages/audit/tests/deep-replay.slow.test.ts',
      'labs/experiments/tests/retail.slow.test.ts',
    ],
  },
  {
    why: 'the Go vulnerability database is not there (ASSIZE_DATA)',
    holds: without('go-vulndb'),
    files: [
      'examples/domains/disclosure/adjudicate.slow.test.ts',
      'labs/experiments/tests/disclosure.slow.test.ts',
    ],
    named: /absent without ASSIZE_DATA/,
  },
  {
    why: 'TimeQA is not there (ASSIZE_DATA)',
    holds: without('timeqa/facts.jsonl'),
    files: [
      'packages/agents/tests/timeqa.nightly.test.ts',
      'packages/agents/tests/chat-memory-timeqa.test.ts',
    ],
  },
];

/** The skipped tests, with and without an allowed reason on this machine. */
export function judgeSkips(
  skipped: readonly Skipped[],
  maySkip: readonly MaySkip[] = MAY_SKIP,
): Judged {
  const held = new Map<MaySkip, boolean>();
  const holds = (may: MaySkip): boolean => {
    if (!held.has(may)) held.set(may, may.holds());
    return held.get(may) === true;
  };
  const expected = new Map<string, Skipped[]>();
  const unexpected: Skipped[] = [];
  for (const each of skipped) {
    const may = maySkip.find((one) => covers(one, each) && holds(one));
    if (may === undefined) unexpected.push(each);
    else expected.set(may.why, [...(expected.get(may.why) ?? []), each]);
  }
  return { expected, unexpected };
}

function covers({ files, named }: MaySkip, { file, name }: Skipped): boolean {
  return (files?.includes(file) ?? named !== undefined) && (named?.test(name) ?? true);
}
