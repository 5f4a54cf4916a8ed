/**
 * Writes the golden run of agents, once: `node tests/golden/make-run.ts`. The recorded entries have
 * the hashes of answers inline. Current code no longer writes this form. The run is never
 * overwritten.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { replayRun, runAgents } from '#agents';
import { exportLines } from '#export';
import { integrateLog } from '#ledger';
import { createOracle, listingKeyOf, type OracleRow, seededRandom } from '#oracle';
import { HandClock, operator, runtimeOver } from '../support/ledger/runtime.ts';
import { V1 } from './ledger.ts';
import { clerk, filing } from './run.ts';

const FILE = 'run.jsonl';
if (existsSync(join(V1, FILE))) throw new Error(`${FILE} is there, and is never written over.`);

const store = new MemoryStore();
const clock = new HandClock();
const oracle = createOracle({ store, clock, mode: 'record' });
const trajectory = await runtimeOver(store, [filing], { oracle: store, ports: { clock } }).create(
  filing,
  {
    trajectoryId: 'desk',
  },
);
const agents = [clerk((n) => (n === 3 ? 'a letter that is long' : `letter ${n}`))];
const by = { principal: 'leader:ann', method: 'test' };
const counsel = () => ({ ...by, do: 'approve' }) as const;
const report = await runAgents(trajectory, agents, {
  oracle,
  clock,
  random: seededRandom('run'),
  counsel,
  maxTurns: 20,
});
const source = { store, oracleStore: store, trajectoryId: 'desk' };
const replay = await replayRun(source, filing, agents, { anchors: [operator.publicKey] });
await integrateLog(store);
let text = '';
for await (const line of exportLines(store)) text += line;
writeFileSync(join(V1, FILE), text);
const rows: OracleRow[] = await store.oracleWithin(
  listingKeyOf({ kind: 'call', trajectory: 'desk' }),
  {
    limit: 1_000,
  },
);
writeFileSync(join(V1, 'run.oracle.json'), `${JSON.stringify(rows, null, 1)}\n`);
console.log(report.ended, report.turns, rows.length, replay.same, replay.turns);
